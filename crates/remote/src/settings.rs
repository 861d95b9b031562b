//! Certificates and proxies from the environment.

use std::fs;
use std::path::PathBuf;

use ureq::Proxy;
use ureq::tls::{Certificate, PemItem, RootCerts, parse_pem};

use tensorop_kernels::error::{Context, Result, ensure, malformed};

/// The certificates in SSL_CERT_FILE and SSL_CERT_DIR (variables of OpenSSL), or else the built-in ones of Mozilla,
/// which serve containers without any.
pub(crate) fn certificates() -> Result<RootCerts> {
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

/// The proxy, from the variables of curl. `HTTP_PROXY` is ignored, because a CGI request can set it.
pub(crate) fn proxy(scheme: &str) -> Result<Option<Proxy>> {
    let names: &[&str] = match scheme {
        "https" => &["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
        _ => &["http_proxy", "all_proxy", "ALL_PROXY"],
    };
    let value = |name: &&str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let Some((name, text)) = names.iter().find_map(|name| Some((*name, value(name)?))) else { return Ok(None) };
    // The text may contain a password.
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
    // Local hosts never use a proxy.
    for host in ["localhost", "127.0.0.1", "::1"] {
        builder = builder.no_proxy(host);
    }
    for host in exceptions.split(',').map(str::trim).filter(|host| !host.is_empty()) {
        builder = builder.no_proxy(host);
        // As in curl, a name includes its subdomains.
        if !host.starts_with(['.', '*']) {
            builder = builder.no_proxy(&format!(".{host}"));
        }
    }
    builder.build().map(Some).map_err(|_| invalid())
}
