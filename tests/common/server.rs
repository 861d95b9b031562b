//! A server of objects on this machine, of the standard library alone, which records what it is asked for and lies as it is
//! told to.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// What lies under a name: bytes, or as many as one likes, the same few again and again but for the first ones.
#[derive(Clone)]
pub(crate) enum Object {
    Bytes(Vec<u8>),
    Virtual { size: u64, cycle: &'static [u8], begin: Vec<u8> },
}

impl Object {
    fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Virtual { size, .. } => *size,
        }
    }

    /// Returns what a server tells versions by: that of bytes is another where these are.
    fn tag(&self) -> u64 {
        let mut crc = flate2::Crc::new();
        if let Self::Bytes(bytes) = self {
            crc.update(bytes);
        }
        self.size() << 32 | u64::from(crc.sum())
    }

    fn part(&self, first: u64, end: u64) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes[first as usize..end as usize].to_vec(),
            Self::Virtual { cycle, begin, .. } => {
                let own = begin.len() as u64;
                let (first_after, end_after) = (first.max(own), end.max(own));
                let (skipped, taken) = (first_after as usize % cycle.len(), (end_after - first_after) as usize);
                let mut out = begin[first.min(own) as usize..end.min(own) as usize].to_vec();
                out.extend_from_slice(&cycle.repeat(taken / cycle.len() + 2)[skipped..][..taken]);
                out
            }
        }
    }
}

/// What goes wrong with one request.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// A status, and what `Retry-After` says.
    Status(u16, Option<&'static str>),
    /// The body ends after so many bytes, and the connection with it.
    EndEarly(usize),
    /// No byte comes, or none after so many of the body.
    Stall(usize),
    /// The connection ends without an answer.
    Reset,
    /// The whole object comes, whatever part was asked for.
    Whole,
    /// The body is said to be encoded.
    Encoded,
    /// The length is said to be so much greater.
    Length(u64),
    /// The part is said to begin so much later.
    Part(u64),
    /// The object is said to have so many bytes.
    Size(u64),
    /// All objects are said to be others from now on, of the same sizes.
    Change,
    /// All objects are others from now on, of the same sizes: the bytes of their second halves are.
    Replace,
    /// The request is sent on.
    Redirect(String),
    /// What was asked for is done, and the connection ends without an answer.
    Unanswered,
    /// The bucket is said to lie in another region.
    Region(&'static str),
}

/// How a server behaves.
#[derive(Default)]
pub(crate) struct Behaviour {
    /// The objects by their paths, which begin with a slash.
    pub objects: BTreeMap<String, Object>,
    /// What goes wrong with the first requests, one after the other; `None` for nothing.
    pub faults: Vec<Option<Fault>>,
    /// What goes wrong with all requests after these.
    pub always: Option<Fault>,
    /// How long each answer takes.
    pub delay: Duration,
    /// After how many requests for an object it is another one, by its path.
    pub swaps: BTreeMap<String, (usize, Vec<u8>)>,
    /// Whether it is ignored that a request is for one version alone.
    pub ignores_versions: bool,
    /// Whether no length is told: bodies come in chunks, and without a body nothing tells how long it would be.
    pub is_chunked: bool,
}

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub method: String,
    pub path: String,
    pub query: String,
    pub headers: Vec<(String, String)>,
    /// The bytes of the body that were sent.
    pub sent: u64,
}

impl Seen {
    /// Returns a header, whose name is in small letters.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

struct Shared {
    behaviour: Mutex<Behaviour>,
    faults: Mutex<VecDeque<Option<Fault>>>,
    seen: Mutex<Vec<Seen>>,
    /// How often all objects were said to be others.
    revision: Mutex<u64>,
    /// How often all objects were others.
    replaced: Mutex<u8>,
    /// The marks that objects were put with, by their paths.
    marks: Mutex<BTreeMap<String, String>>,
    /// The requests that are being answered, and the most that were at the same time.
    at_once: Mutex<(usize, usize)>,
    stopped: AtomicBool,
}

/// A server, which ends when it is dropped.
pub(crate) struct Server {
    port: u16,
    shared: Arc<Shared>,
}

impl Server {
    /// Starts a server.
    pub(crate) fn start(mut behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared {
            faults: Mutex::new(std::mem::take(&mut behaviour.faults).into()),
            behaviour: Mutex::new(behaviour),
            seen: Mutex::default(),
            revision: Mutex::default(),
            replaced: Mutex::default(),
            marks: Mutex::default(),
            at_once: Mutex::default(),
            stopped: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if accepting.stopped.load(Ordering::SeqCst) {
                    break;
                }
                let shared = Arc::clone(&accepting);
                thread::spawn(move || serve(&stream, &shared));
            }
        });
        Self { port, shared }
    }

    /// Starts a server of some objects.
    pub(crate) fn of<'a>(objects: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> Self {
        let objects = objects.into_iter().map(|(name, bytes)| (name.to_owned(), Object::Bytes(bytes))).collect();
        Self::start(Behaviour { objects, ..Behaviour::default() })
    }

    /// Returns the URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Returns what was asked since the last call.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut *held(&self.shared.seen))
    }

    /// Returns the most requests that waited for their answers at the same time since the last call.
    pub(crate) fn most_at_once(&self) -> usize {
        std::mem::take(&mut held(&self.shared.at_once).1)
    }

    /// Returns the names of the objects.
    pub(crate) fn names(&self) -> Vec<String> {
        held(&self.shared.behaviour).objects.keys().cloned().collect()
    }

    /// Returns the objects below a path, by their names from there on.
    pub(crate) fn tree(&self, path: &str) -> BTreeMap<String, Vec<u8>> {
        let behaviour = held(&self.shared.behaviour);
        let below = behaviour.objects.iter().filter_map(|(name, object)| Some((name.strip_prefix(path)?, object)));
        below.map(|(name, object)| (name.trim_start_matches('/').to_owned(), object.part(0, object.size()))).collect()
    }

    /// Gives a path an object, or takes it away.
    pub(crate) fn set(&self, path: &str, bytes: Option<&[u8]>) {
        let objects = &mut held(&self.shared.behaviour).objects;
        match bytes {
            Some(bytes) => drop(objects.insert(path.to_owned(), Object::Bytes(bytes.to_vec()))),
            None => drop(objects.remove(path)),
        }
    }

    /// Forgets what was to go wrong.
    pub(crate) fn mend(&self) {
        self.fail([]);
    }

    /// Lets the next requests go wrong.
    pub(crate) fn fail(&self, faults: impl IntoIterator<Item = Option<Fault>>) {
        *held(&self.shared.faults) = faults.into_iter().collect();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // the thread that accepts looks at the flag when somebody comes
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread of a server panics")
}

/// Answers the requests of a connection.
fn serve(stream: &TcpStream, shared: &Shared) {
    let _ = stream.set_nodelay(true);
    let mut reader = BufReader::new(stream);
    while !shared.stopped.load(Ordering::SeqCst) {
        let Some((request, body)) = read_request(&mut reader) else { return };
        let number = {
            let mut seen = held(&shared.seen);
            seen.push(request.clone());
            seen.len() - 1
        };
        // it is counted before it is sent: who has the answer may look at once
        let count = |bytes| held(&shared.seen).get_mut(number).into_iter().for_each(|seen| seen.sent = bytes);
        if answer(stream, shared, &request, body, &count).is_none() {
            let _ = stream.shutdown(std::net::Shutdown::Both);
            return;
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<(Seen, Vec<u8>)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut request = Seen { method, path: path.to_owned(), query: query.to_owned(), ..Seen::default() };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        request.headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = request.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((request, body))
}

/// Sends an answer, the bytes of whose body `count` is told before; `None` if the connection is to end.
fn answer(mut stream: &TcpStream, shared: &Shared, request: &Seen, body: Vec<u8>, count: &dyn Fn(u64)) -> Option<()> {
    let (delay, always, is_chunked) = {
        let behaviour = held(&shared.behaviour);
        (behaviour.delay, behaviour.always.clone(), behaviour.is_chunked)
    };
    {
        let mut at_once = held(&shared.at_once);
        at_once.0 += 1;
        at_once.1 = at_once.1.max(at_once.0);
    }
    thread::sleep(delay);
    held(&shared.at_once).0 -= 1;
    let fault = held(&shared.faults).pop_front().unwrap_or(always);
    let mut send = |status: &str, headers: &[(&str, String)], length: u64, body: &[u8]| {
        let mut head = format!("HTTP/1.1 {status}\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        count(body.len() as u64);
        if is_chunked {
            head.push_str("Transfer-Encoding: chunked\r\n\r\n");
            let body = if request.method == "HEAD" { Vec::new() } else { in_chunks(body, length) };
            return stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)).ok();
        }
        head.push_str(&format!("Content-Length: {length}\r\n\r\n"));
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).ok()
    };
    match &fault {
        Some(Fault::Reset) => return None,
        Some(Fault::Unanswered) if !["PUT", "DELETE"].contains(&&*request.method) => return None,
        Some(Fault::Status(status, after)) => {
            let headers: Vec<_> = after.iter().map(|after| ("Retry-After", (*after).to_owned())).collect();
            return send(&format!("{status} Of a test"), &headers, 0, b"");
        }
        Some(Fault::Redirect(to)) => return send("302 Found", &[("Location", to.clone())], 0, b""),
        Some(Fault::Region(region)) => {
            return send("301 Moved Permanently", &[("x-amz-bucket-region", (*region).to_owned())], 0, b"");
        }
        Some(Fault::Change) => *held(&shared.revision) += 1,
        Some(Fault::Replace) => {
            *held(&shared.revision) += 1;
            let mut replaced = held(&shared.replaced);
            *replaced = replaced.wrapping_add(1);
        }
        _ => {}
    }
    if request.method == "CONNECT" {
        // as a proxy, it is also the server that is meant
        return send("200 OK", &[], 0, b"");
    }
    let mut behaviour = held(&shared.behaviour);
    if request.method == "PUT" {
        let is_new = !behaviour.objects.contains_key(&request.path);
        if request.header("if-none-match").is_some() && !is_new {
            return send("412 Precondition Failed", &[], 0, b"");
        }
        behaviour.objects.insert(request.path.clone(), Object::Bytes(body));
        let mut marks = held(&shared.marks);
        match request.header("x-amz-meta-tensorop") {
            Some(mark) => drop(marks.insert(request.path.clone(), mark.to_owned())),
            None => drop(marks.remove(&request.path)),
        }
        if matches!(fault, Some(Fault::Unanswered)) {
            return None;
        }
        return send("200 OK", &[], 0, b"");
    }
    if request.method == "DELETE" {
        behaviour.objects.remove(&request.path);
        if matches!(fault, Some(Fault::Unanswered)) {
            return None;
        }
        return send("204 No Content", &[], 0, b"");
    }
    if request.query.contains("list-type=2") {
        let text = list(&behaviour.objects, request);
        return send("200 OK", &[], text.len() as u64, text.as_bytes());
    }
    if let Some((rest, bytes)) = behaviour.swaps.get_mut(&request.path) {
        match rest.checked_sub(1) {
            Some(less) => *rest = less,
            None => {
                let bytes = std::mem::take(bytes);
                behaviour.swaps.remove(&request.path);
                behaviour.objects.insert(request.path.clone(), Object::Bytes(bytes));
            }
        }
    }
    let (found, ignores_versions) = (behaviour.objects.get(&request.path).cloned(), behaviour.ignores_versions);
    drop(behaviour);
    let Some(object) = found else { return send("404 Not Found", &[], 0, b"") };
    let mut size = object.size();
    let tag = format!("\"{}-{:x}\"", held(&shared.revision), object.tag());
    if !ignores_versions && request.header("if-match").is_some_and(|wanted| wanted != tag) {
        return send("412 Precondition Failed", &[], 0, b"");
    }
    let range = request.header("range").filter(|_| !matches!(fault, Some(Fault::Whole)));
    let Some((first, end)) = range.map_or(Some((0, size)), |range| parse_range(range, size)) else {
        return send("416 Range Not Satisfiable", &[("Content-Range", format!("bytes */{size}"))], 0, b"");
    };
    let mut bytes = if request.method == "HEAD" { Vec::new() } else { object.part(first, end) };
    let half = (size / 2).clamp(first, end) - first;
    let replaced = *held(&shared.replaced);
    bytes.iter_mut().skip(half as usize).for_each(|byte| *byte ^= replaced);
    let mut headers = vec![("ETag", tag)];
    headers.extend(held(&shared.marks).get(&request.path).map(|mark| ("x-amz-meta-tensorop", mark.clone())));
    let (mut length, mut shift) = (end - first, 0);
    match fault {
        Some(Fault::Encoded) => headers.push(("Content-Encoding", "gzip".to_owned())),
        Some(Fault::Length(more)) => length += more,
        Some(Fault::Part(by)) => shift = by,
        Some(Fault::Size(said)) => size = said,
        _ => {}
    }
    if range.is_some() {
        headers.push(("Content-Range", format!("bytes {}-{}/{size}", first + shift, end - 1 + shift)));
    }
    let status = if range.is_some() { "206 Partial Content" } else { "200 OK" };
    match fault {
        Some(Fault::EndEarly(count)) => {
            send(status, &headers, length, &bytes[..count.min(bytes.len())]);
            None
        }
        Some(Fault::Stall(count)) => {
            send(status, &headers, length, &bytes[..count.min(bytes.len())]);
            while !shared.stopped.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(20));
            }
            None
        }
        Some(Fault::Length(_)) => {
            send(status, &headers, length, &bytes);
            None
        }
        _ => send(status, &headers, length, &bytes),
    }
}

/// The bytes of a chunk of a body whose length is not told.
pub(crate) const BODY_CHUNK: usize = 1000;

/// Returns a body in chunks, as far as it goes: one of fewer bytes than `length` ends early, within a chunk or behind one.
fn in_chunks(body: &[u8], length: u64) -> Vec<u8> {
    let (mut out, mut left) = (Vec::new(), length as usize);
    for chunk in body.chunks(BODY_CHUNK) {
        out.extend_from_slice(format!("{:x}\r\n", left.min(BODY_CHUNK)).as_bytes());
        out.extend_from_slice(chunk);
        if chunk.len() < left.min(BODY_CHUNK) {
            return out;
        }
        out.extend_from_slice(b"\r\n");
        left -= chunk.len();
    }
    if left == 0 {
        out.extend_from_slice(b"0\r\n\r\n");
    }
    out
}

/// Returns the first byte of a range and the one behind its last.
fn parse_range(text: &str, size: u64) -> Option<(u64, u64)> {
    let (first, last) = text.strip_prefix("bytes=")?.split_once('-')?;
    let (first, end) = match (first.parse::<u64>(), last.parse::<u64>()) {
        (Err(_), Ok(count)) => (size.saturating_sub(count), size),
        (Ok(first), Ok(last)) => (first, (last + 1).min(size)),
        (Ok(first), Err(_)) => (first, size),
        (Err(_), Err(_)) => return None,
    };
    (first < end).then_some((first, end))
}

/// Returns the names of a bucket, which is the first part of a path, a few at a time.
fn list(objects: &BTreeMap<String, Object>, request: &Seen) -> String {
    const PAGE: usize = 3;
    let value = |key: &str| {
        let pairs = request.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(own, _)| *own == key).map(|(_, value)| value.replace("%2F", "/"))
    };
    let (prefix, delimiter) = (value("prefix").unwrap_or_default(), value("delimiter"));
    let after = value("continuation-token").unwrap_or_default();
    let bucket = format!("{}/", request.path.trim_end_matches('/'));
    let mut rows: Vec<(String, bool)> = Vec::new();
    for key in objects.keys().filter_map(|path| path.strip_prefix(&bucket)) {
        let Some(rest) = key.strip_prefix(&prefix) else { continue };
        let row = match rest.split_once('/').filter(|_| delimiter.is_some()) {
            Some((folder, _)) => (format!("{prefix}{folder}/"), true),
            None => (key.to_owned(), false),
        };
        if !rows.contains(&row) && row.0 > after {
            rows.push(row);
        }
    }
    let more = rows.len() > PAGE;
    rows.truncate(PAGE);
    let next = rows.last().filter(|_| more).map(|(name, _)| name.clone());
    let size = |name: &str| objects.get(&format!("{bucket}{name}")).map_or(0, Object::size);
    let rows: String = rows
        .iter()
        .map(|(name, is_folder)| match is_folder {
            true => format!("<CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes>"),
            false => format!("<Contents><ETag>\"x\"</ETag><Key>{name}</Key><Size>{}</Size></Contents>", size(name)),
        })
        .collect();
    let next = next.map(|next| format!("<NextContinuationToken>{next}</NextContinuationToken>")).unwrap_or_default();
    format!(
        "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{rows}{next}\
         <IsTruncated>{more}</IsTruncated><EncodingType>url</EncodingType></ListBucketResult>"
    )
}
