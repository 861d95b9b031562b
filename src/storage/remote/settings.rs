//! What the environment says of every request: certificates and proxies.

use std::fs;
use std::path::PathBuf;

use ureq::Proxy;
use ureq::tls::{Certificate, PemItem, RootCerts, parse_pem};

use crate::error::{Context, Result, ensure, malformed};

/// Returns the certificates that servers are checked by: those that SSL_CERT_FILE and SSL_CERT_DIR name, in the place of
/// those that the program has in it. Both are variables of OpenSSL, which most programs heed; the program has Mozilla's
/// certificates in it, since it also runs where the system has none, as in a container.
///
/// # Errors
/// A file that cannot be read, or has none in it.
pub(super) fn certificates() -> Result<RootCerts> {
    let file = std::env::var_os("SSL_CERT_FILE").filter(|name| !name.is_empty()).map(PathBuf::from);
    let folder = std::env::var_os("SSL_CERT_DIR").filter(|name| !name.is_empty()).map(PathBuf::from);
    if file.is_none() && folder.is_none() {
        return Ok(RootCerts::WebPki);
    }
    let mut found: Vec<Certificate<'static>> = Vec::new();
    let mut add = |text: &[u8]| {
        found.extend(parse_pem(text).filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        }));
    };
    if let Some(file) = file {
        add(&fs::read(&file).with_context(|| format!("SSL_CERT_FILE {}", file.display()))?);
    }
    if let Some(folder) = folder {
        let entries = fs::read_dir(&folder).with_context(|| format!("SSL_CERT_DIR {}", folder.display()))?;
        for text in entries.filter_map(|entry| fs::read(entry.ok()?.path()).ok()) {
            add(&text);
        }
    }
    ensure!(!found.is_empty(), "SSL_CERT_FILE and SSL_CERT_DIR: no certificate in them");
    Ok(RootCerts::from(found))
}

/// Returns the proxy for URLs of a scheme, by the variables that curl heeds: of a proxy for http only the name in small
/// letters, since the other one may have come with a request to a server that runs this program.
///
/// # Errors
/// The variable holds no address.
pub(super) fn proxy(scheme: &str) -> Result<Option<Proxy>> {
    let names: &[&str] = match scheme {
        "https" => &["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
        _ => &["http_proxy", "all_proxy", "ALL_PROXY"],
    };
    let value = |name: &&str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let Some((name, text)) = names.iter().find_map(|name| Some((*name, value(name)?))) else { return Ok(None) };
    // the text may have a password in it
    let invalid = || malformed!("{name}: expected the address of a proxy");
    let parsed = Proxy::new(text.trim()).map_err(|_| invalid())?;
    let mut builder = Proxy::builder(parsed.protocol()).host(parsed.host()).port(parsed.port());
    if let Some(user) = parsed.username() {
        builder = builder.username(user);
    }
    if let Some(password) = parsed.password() {
        builder = builder.password(password);
    }
    let exceptions = ["no_proxy", "NO_PROXY"].iter().find_map(value).unwrap_or_default();
    // what runs on this machine is none of a proxy's business, whatever the variables say
    for host in ["localhost", "127.0.0.1", "::1"] {
        builder = builder.no_proxy(host);
    }
    for host in exceptions.split(',').map(str::trim).filter(|host| !host.is_empty()) {
        builder = builder.no_proxy(host);
        // as in curl, a name stands for the hosts below it, too
        if !host.starts_with(['.', '*']) {
            builder = builder.no_proxy(&format!(".{host}"));
        }
    }
    builder.build().map(Some).map_err(|_| invalid())
}
