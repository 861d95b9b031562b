//! [`Client`]: requests with signatures, redirects and retries.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use std::{fmt, fs};

use crate::requests::{AskedAgain, RequestEvent, RequestOptions, tell};
use rusty_s3::{Bucket, S3Action, UrlStyle};
use tensorop_kernels::error::{Context, Error, Result, ensure, malformed};
use tensorop_kernels::parallel::{locked, wait};
use ureq::http::{Method, Request, StatusCode, header};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Proxy, ProxyProtocol};
use url::Url;

use crate::address::{Address, host};
use crate::answer::{self, MARK, RequestFailure, Response};
use crate::credentials::{BucketAccess, HubAccess};

pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

const RETRIES: u32 = 5;

/// Doubles with each retry.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

const REDIRECTS: usize = 10;

/// The maximum cached redirects: few of a store's many chunks are read twice.
const MAX_TARGETS: usize = 1024;

/// The validity of a signature; each request has a new one.
const SIGNED_FOR: Duration = Duration::from_secs(900);

pub(crate) struct Ask<'a> {
    pub method: Method,
    pub address: &'a Address,
    pub headers: Vec<(header::HeaderName, String)>,
    pub body: &'a [u8],
    /// For lists: prefix, folders only, continuation token.
    pub list: Option<(String, bool, Option<String>)>,
}

impl<'a> Ask<'a> {
    pub(crate) fn new(method: Method, address: &'a Address) -> Self {
        Self { method, address, headers: Vec::new(), body: &[], list: None }
    }

    pub(crate) fn with(mut self, name: header::HeaderName, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Returns whether the status answers the requested range or version.
    fn is_told_by(&self, status: StatusCode) -> bool {
        let asks_for = |wanted| self.headers.iter().any(|(name, _)| *name == wanted);
        match status {
            StatusCode::RANGE_NOT_SATISFIABLE => asks_for(header::RANGE),
            StatusCode::PRECONDITION_FAILED => asks_for(header::IF_MATCH),
            _ => false,
        }
    }

    fn reads(&self) -> bool {
        self.list.is_none() && matches!(self.method, Method::GET | Method::HEAD)
    }
}

pub(crate) struct RequestTarget {
    url: Url,
    token: Option<String>,
    pub is_signed: bool,
}

/// A client, which all threads of a run share. It keeps connections open.
pub struct Client {
    pub(crate) plain: Agent,
    /// Created with the first secure request: parsing the certificates of a system takes longer than a small run.
    pub(crate) secure: OnceLock<Result<Agent>>,
    pub(crate) timeout: Duration,
    pub(crate) unsigned: bool,
    pub(crate) buckets: OnceLock<Result<BucketAccess>>,
    pub(crate) hub: OnceLock<Result<HubAccess>>,
    /// The regions of buckets outside the usual one.
    pub(crate) regions: Mutex<HashMap<String, String>>,
    /// Cached redirects, which would otherwise double the requests.
    pub(crate) targets: Mutex<HashMap<String, Url>>,
}

impl Client {
    /// Returns the client with these options, which is the same for all threads.
    ///
    /// # Errors
    /// An environment variable is malformed.
    pub fn shared(options: RequestOptions) -> Result<Arc<Self>> {
        static CLIENTS: Mutex<Vec<(RequestOptions, Arc<Client>)>> = Mutex::new(Vec::new());
        let mut clients = locked(&CLIENTS);
        if let Some((_, client)) = clients.iter().find(|(other, _)| *other == options) {
            return Ok(Arc::clone(client));
        }
        let client = Arc::new(Self::new(options)?);
        clients.push((options, Arc::clone(&client)));
        Ok(client)
    }

    fn new(options: RequestOptions) -> Result<Self> {
        let timeout = options.timeout.unwrap_or(TIMEOUT);
        // The proxy of a plain address can be a secure one.
        let plain_proxy = proxy("http")?;
        let certificates = match &plain_proxy {
            Some(proxy) if proxy.protocol() == ProxyProtocol::Https => certificates()?,
            _ => RootCerts::WebPki,
        };
        Ok(Self {
            plain: agent(plain_proxy, certificates, timeout),
            secure: OnceLock::new(),
            timeout,
            unsigned: options.unsigned,
            buckets: OnceLock::new(),
            hub: OnceLock::new(),
            regions: Mutex::default(),
            targets: Mutex::default(),
        })
    }

    /// Retries `attempt` until it succeeds or fails for good.
    ///
    /// # Errors
    /// A request fails.
    pub fn repeat<T>(&self, address: &Address, mut attempt: impl FnMut() -> Result<T, RequestFailure>) -> Result<T> {
        let mut pause = FIRST_PAUSE;
        for retry in 0.. {
            match attempt() {
                Ok(done) => return Ok(done),
                Err(RequestFailure::Lasting(error)) => return Err(error),
                Err(RequestFailure::Passing(error, after)) => {
                    // Waits beyond the timeout are an error.
                    if let Some(after) = after.filter(|after| *after > self.timeout.max(TIMEOUT)) {
                        return Err(with_note(&error, &format!("retry in {} seconds", after.as_secs())));
                    }
                    if retry == RETRIES {
                        return Err(with_note(&error, &format!("{} attempts", RETRIES + 1)));
                    }
                    let host = self.host(address);
                    let (number, most, why) = (retry + 2, RETRIES + 1, error.message());
                    tell(RequestEvent::AskedAgain(&AskedAgain { number, most, why, host: &host }));
                    wait(after.unwrap_or(pause));
                    pause *= 2;
                }
            }
        }
        unreachable!("the last attempt returns")
    }

    /// `None` if the object does not exist.
    pub(crate) fn answer(&self, ask: &Ask<'_>) -> Result<Option<Response>, RequestFailure> {
        let target = self.target(ask)?;
        let (url, is_signed) = (target.url.clone(), target.is_signed);
        let known = if ask.reads() { locked(&self.targets).get(url.as_str()).cloned() } else { None };
        let response = match known {
            None => self.send_on(ask, target)?,
            Some(known) => {
                let response = self.send_on(ask, RequestTarget { url: known, token: None, is_signed: false })?;
                match response.status().is_client_error() && !ask.is_told_by(response.status()) {
                    false => response,
                    true => {
                        locked(&self.targets).remove(url.as_str());
                        self.send_on(ask, target)?
                    }
                }
            }
        };
        let status = response.status();
        match status {
            StatusCode::NOT_FOUND | StatusCode::GONE => {
                let is_bucket = matches!(ask.address, Address::Bucket { .. });
                if is_bucket && ask.method != Method::HEAD {
                    // A missing bucket is an error, unlike a missing object.
                    let refusal = answer::refusal(response, ask.address, is_signed);
                    return match &refusal {
                        RequestFailure::Lasting(error) if error.message().contains("NoSuchBucket") => Err(refusal),
                        _ => Ok(None),
                    };
                }
                drain(response);
                Ok(None)
            }
            _ if status.is_success() || ask.is_told_by(status) => Ok(Some(response)),
            _ => Err(answer::refusal(response, ask.address, is_signed)),
        }
    }

    /// Sends a request and follows redirects.
    pub(crate) fn send_on(&self, ask: &Ask<'_>, target: RequestTarget) -> Result<Response, RequestFailure> {
        let first = target.url.clone();
        let RequestTarget { mut url, mut token, is_signed } = target;
        for _ in 0..=REDIRECTS {
            let response = self.send(ask, &url, token.as_deref())?;
            let status = response.status();
            let region = response.headers().get("x-amz-bucket-region").and_then(|value| value.to_str().ok());
            if let (Address::Bucket { bucket, .. }, Some(region)) = (ask.address, region)
                && (status.is_redirection() || status == StatusCode::BAD_REQUEST)
                && self.region(bucket)? != region
            {
                locked(&self.regions).insert(bucket.clone(), region.to_owned());
                drain(response);
                url = self.target(ask)?.url;
                continue;
            }
            let keeps_method = matches!(ask.method, Method::GET | Method::HEAD)
                || matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
            let location = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
            let Some(location) = location.filter(|_| status.is_redirection() && status != StatusCode::NOT_MODIFIED)
            else {
                if ask.reads() && status.is_success() && url != first && !is_signed {
                    let mut targets = locked(&self.targets);
                    if targets.len() == MAX_TARGETS {
                        targets.clear();
                    }
                    targets.insert(first.into(), url);
                }
                return Ok(response);
            };
            let next = sent_on(&url, location)?;
            if !keeps_method {
                return Err(malformed!("answers with the status {}", status.as_u16()).into());
            }
            drain(response);
            // Tokens are for their own host.
            token = token.filter(|_| next.origin() == url.origin());
            url = next;
        }
        Err(malformed!("is redirected more than {REDIRECTS} times").into())
    }

    fn send(&self, ask: &Ask<'_>, url: &Url, token: Option<&str>) -> Result<Response, RequestFailure> {
        let mut request = Request::builder().method(ask.method.clone()).uri(url.as_str());
        for (name, value) in &ask.headers {
            request = request.header(name, value);
        }
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let agent = if url.scheme() == "https" { self.secure()? } else { &self.plain };
        // An error may quote the request and so a key.
        let invalid = |_| RequestFailure::Lasting(malformed!("is not a usable address"));
        let answer = match ask.method {
            Method::PUT => agent.run(request.body(ask.body).map_err(invalid)?),
            _ => agent.run(request.body(()).map_err(invalid)?),
        };
        answer.map_err(|error| {
            let failure = answer::broken(error, self.timeout);
            let is_told = matches!(ask.address, Address::Web(own) if own.origin() == url.origin());
            if is_told { failure } else { failure.with_server(url) }
        })
    }

    fn secure(&self) -> Result<&Agent> {
        let made = self.secure.get_or_init(|| Ok(agent(proxy("https")?, certificates()?, self.timeout)));
        made.as_ref().map_err(Error::clone)
    }

    pub(crate) fn target(&self, ask: &Ask<'_>) -> Result<RequestTarget> {
        match ask.address {
            Address::Web(url) => Ok(RequestTarget {
                url: url.clone(),
                token: None,
                is_signed: url.has_authority() && !url.username().is_empty(),
            }),
            Address::Hub { kind, repository, revision, path } => {
                let hub = self.hub.get_or_init(HubAccess::find).as_ref().map_err(Error::clone)?;
                let mut url = hub.endpoint.clone();
                if let Ok(mut segments) = url.path_segments_mut() {
                    segments.pop_if_empty().extend(kind.split_terminator('/')).extend(repository.split('/'));
                    segments.extend(["resolve", revision]).extend(path.split('/'));
                }
                Ok(RequestTarget { url, token: hub.token.clone(), is_signed: hub.token.is_some() })
            }
            Address::Bucket { bucket, key } => {
                let access = self.buckets()?;
                let credentials = access.credentials.as_ref();
                let bucket = self.bucket(access, bucket)?;
                ensure!(!key.is_empty() || ask.list.is_some(), "expected s3://BUCKET/KEY");
                let url = match (&ask.list, &ask.method) {
                    (Some((prefix, folders, next)), _) => {
                        let mut action = bucket.list_objects_v2(credentials);
                        action.with_prefix(prefix.as_str());
                        if *folders {
                            action.with_delimiter("/");
                        }
                        if let Some(next) = next {
                            action.with_continuation_token(next.as_str());
                        }
                        action.sign(SIGNED_FOR)
                    }
                    (None, &Method::HEAD) => bucket.head_object(credentials, key).sign(SIGNED_FOR),
                    (None, &Method::PUT) => {
                        let mut action = bucket.put_object(credentials, key);
                        // Headers that are not signed are refused.
                        for (name, value) in ask.headers.iter().filter(|(name, _)| *name == MARK) {
                            action.headers_mut().insert(name.as_str(), value.as_str());
                        }
                        action.sign(SIGNED_FOR)
                    }
                    (None, &Method::DELETE) => bucket.delete_object(credentials, key).sign(SIGNED_FOR),
                    (None, _) => bucket.get_object(credentials, key).sign(SIGNED_FOR),
                };
                Ok(RequestTarget { url, token: None, is_signed: credentials.is_some() })
            }
        }
    }

    /// The host, with the port if there is one, without secrets.
    fn host(&self, address: &Address) -> String {
        let ask = Ask { list: Some(Default::default()), ..Ask::new(Method::GET, address) };
        self.target(&ask).map_or_else(|_| String::new(), |target| host(&target.url).to_owned())
    }

    fn buckets(&self) -> Result<&BucketAccess> {
        self.buckets.get_or_init(|| BucketAccess::find(self.unsigned)).as_ref().map_err(Error::clone)
    }

    fn region(&self, bucket: &str) -> Result<String> {
        let known = locked(&self.regions).get(bucket).cloned();
        Ok(known.unwrap_or(self.buckets()?.region.clone()))
    }

    fn bucket(&self, access: &BucketAccess, name: &str) -> Result<Bucket> {
        let region = self.region(name)?;
        // The region becomes part of a host name, which neither a variable nor an answer may forge.
        let is_region = region.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        let is_region = is_region && !region.is_empty();
        ensure!(
            is_region || region != access.region,
            "AWS_REGION, or the profile: expected a region such as eu-west-1"
        );
        ensure!(is_region, "the server names an invalid region for the bucket");
        let usual = || Url::parse(&format!("https://s3.{region}.amazonaws.com")).ok();
        let endpoint =
            access.endpoint.clone().or_else(usual).ok_or_else(|| malformed!("AWS_REGION is not a region"))?;
        // Certificates do not cover bucket names with a dot.
        let by_host = access.endpoint.is_none() && !name.contains('.');
        let style = if by_host { UrlStyle::VirtualHost } else { UrlStyle::Path };
        Bucket::new(endpoint, style, name.to_owned(), region).map_err(|_| malformed!("{name:?} is not a bucket"))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// Resolves a redirect. User and password stay only with the same origin.
fn sent_on(url: &Url, location: &str) -> Result<Url> {
    let next = url.join(location).ok().filter(|next| matches!(next.scheme(), "http" | "https"));
    let mut next = next.ok_or_else(|| malformed!("is redirected to something that is not an address"))?;
    if next.origin() == url.origin() {
        let has_host = "a URL of http has a host, and so may have a user";
        next.set_username(url.username()).expect(has_host);
        next.set_password(url.password()).expect(has_host);
    }
    Ok(next)
}

/// Reads a short unneeded body, so that the connection can be reused.
pub(crate) fn drain(mut response: Response) {
    let _ = response.body_mut().with_config().limit(1 << 14).read_to_vec();
}

fn with_note(error: &Error, note: &str) -> Error {
    Error::from_kind(error.kind(), format!("{} ({note})", error.message()))
}

fn agent(proxy: Option<Proxy>, certificates: RootCerts, timeout: Duration) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(proxy)
        .tls_config(TlsConfig::builder().root_certs(certificates).build())
        .user_agent(concat!("tensorop/", env!("CARGO_PKG_VERSION")))
        .accept_encoding("identity")
        .timeout_resolve(Some(timeout))
        .timeout_connect(Some(timeout))
        .timeout_per_read(Some(timeout))
        .timeout_per_write(Some(timeout));
    config.build().new_agent()
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_with_their_scheme_host_and_port() {
        let from = Url::parse("https://me:secret@host/a/x.npy?X-Amz-Signature=secret#f").expect("a URL");
        let rows = [
            ("y.npy", "https://me:secret@host/a/y.npy"),
            ("/y?key=1", "https://me:secret@host/y?key=1"),
            ("https://host:443/y", "https://me:secret@host/y"),
            ("https://HOST/y", "https://me:secret@host/y"),
            ("//host/y", "https://me:secret@host/y"),
            ("http://host/y", "http://host/y"),
            ("http://host:443/y", "http://host:443/y"),
            ("https://host:8443/y", "https://host:8443/y"),
            ("https://host.evil.example/y", "https://host.evil.example/y"),
            ("https://evil.example@host.evil.example/y", "https://evil.example@host.evil.example/y"),
            ("//other/y", "https://other/y"),
            ("https://169.254.169.254/y", "https://169.254.169.254/y"),
        ];
        for (location, expected) in rows {
            assert_eq!(sent_on(&from, location).expect(location).as_str(), expected, "{location}");
        }
        for location in ["file:///etc/passwd", "s3://bucket/x", "data:,x", "ftp://host/x", "https://", "http://a b/"] {
            let error = sent_on(&from, location).expect_err(location);
            assert_eq!(error.to_string(), "is redirected to something that is not an address", "{location}");
        }
    }
}
