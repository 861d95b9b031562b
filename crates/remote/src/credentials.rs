//! Credentials from the variables and files of other programs.

use std::collections::HashMap;
use std::path::PathBuf;
use std::{env, fs};

use rusty_s3::Credentials;
use url::Url;

use tensorop_kernels::error::{Advice, Error, Result, ensure, malformed};

/// Access to buckets. Not `Debug`, because it contains keys.
pub(crate) struct BucketAccess {
    /// Requests are not signed without them.
    pub credentials: Option<Credentials>,
    pub region: String,
    /// A server other than AWS, with the bucket in the path.
    pub endpoint: Option<Url>,
}

/// Access to the Hugging Face Hub. Not `Debug`, because it contains a token.
pub(crate) struct HubAccess {
    pub endpoint: Url,
    /// Only public files are accessible without it.
    pub token: Option<String>,
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// The text may contain a password, so messages do not quote it.
fn endpoint(name: &str, text: &str) -> Result<Url> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    url.ok_or_else(|| malformed!("{name}: expected an address that begins with http:// or https://"))
}

impl BucketAccess {
    /// Reads the environment and the profile files like the AWS command; variables take precedence. `unsigned` omits
    /// keys.
    pub(crate) fn find(unsigned: bool) -> Result<Self> {
        let profile = Profile::read();
        let value = |names: &[&str], key: &str| {
            names.iter().find_map(|name| variable(name)).or_else(|| profile.values.get(key).cloned())
        };
        let region = value(&["AWS_REGION", "AWS_DEFAULT_REGION"], "region").unwrap_or_else(|| "us-east-1".to_owned());
        let found = value(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"], "endpoint_url");
        let endpoint = found.map(|text| endpoint("AWS_ENDPOINT_URL_S3, or AWS_ENDPOINT_URL", &text)).transpose()?;
        let credentials = if unsigned { None } else { Self::key(&profile)? };
        Ok(Self { credentials, region, endpoint })
    }

    /// All parts of the key come from one place.
    fn key(profile: &Profile) -> Result<Option<Credentials>> {
        let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];
        let own = names.map(variable);
        let of_file = |name: &str| profile.values.get(&name.to_ascii_lowercase()).cloned();
        let [key, secret, token] = if own[0].is_some() || own[1].is_some() { own } else { names.map(of_file) };
        match (key, secret, token) {
            (Some(key), Some(secret), Some(token)) => Ok(Some(Credentials::new_with_token(key, secret, token))),
            (Some(key), Some(secret), None) => Ok(Some(Credentials::new(key, secret))),
            (None, None, _) => match &profile.missing {
                None => profile.unread().map_or(Ok(None), Err),
                Some(name) => Err(malformed!("AWS_PROFILE: there is no profile {name:?}")),
            },
            (Some(_), None, _) => Err(malformed!("AWS_ACCESS_KEY_ID is given, and AWS_SECRET_ACCESS_KEY is not")),
            (None, Some(_), _) => Err(malformed!("AWS_SECRET_ACCESS_KEY is given, and AWS_ACCESS_KEY_ID is not")),
        }
    }
}

impl HubAccess {
    pub(crate) fn find() -> Result<Self> {
        let text = variable("HF_ENDPOINT").unwrap_or_else(|| "https://huggingface.co".to_owned());
        let token = variable("HF_TOKEN");
        let is_token = token.as_ref().is_none_or(|token| token.bytes().all(|byte| byte.is_ascii_graphic()));
        ensure!(is_token, "HF_TOKEN: expected a token without spaces");
        Ok(Self { endpoint: endpoint("HF_ENDPOINT", &text)?, token })
    }
}

/// The AWS command uses these settings to get keys from a request or another program.
const UNREAD: [&str; 6] =
    ["web_identity_token_file", "role_arn", "sso_session", "sso_start_url", "credential_process", "login_session"];

#[derive(Default)]
struct Profile {
    asked: Option<String>,
    values: HashMap<String, String>,
    /// The name, if neither file has the profile.
    missing: Option<String>,
}

impl Profile {
    /// The credentials file takes precedence.
    fn read() -> Self {
        let home = variable(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).map(PathBuf::from);
        let file = |own: &str, name: &str| {
            let path = variable(own).map(PathBuf::from).or_else(|| Some(home.as_ref()?.join(".aws").join(name)))?;
            fs::read_to_string(path).ok()
        };
        let asked = variable("AWS_PROFILE");
        let name = asked.as_deref().unwrap_or("default");
        let mut found = Vec::new();
        if let Some(text) = file("AWS_CONFIG_FILE", "config") {
            found.extend(section(&text, |heading| {
                heading == name && name == "default" || heading.strip_prefix("profile ").map(str::trim) == Some(name)
            }));
        }
        if let Some(text) = file("AWS_SHARED_CREDENTIALS_FILE", "credentials") {
            found.extend(section(&text, |heading| heading == name));
        }
        let missing = asked.clone().filter(|_| found.is_empty());
        Self { values: found.into_iter().flatten().collect(), missing, asked }
    }

    /// The error for keys from an unsupported origin.
    fn unread(&self) -> Option<Error> {
        const TOKEN_FILE: &str = "AWS_WEB_IDENTITY_TOKEN_FILE";
        let (option, kind) = match (variable(TOKEN_FILE), UNREAD.iter().find(|key| self.values.contains_key(**key))) {
            (Some(_), _) => (String::new(), format!("{TOKEN_FILE} is set")),
            (None, None) => return None,
            (None, Some(key)) => {
                let name = self.asked.as_deref().unwrap_or("default");
                let option = self.asked.as_ref().map(|name| format!(" --profile {name}")).unwrap_or_default();
                (option, format!("the profile {name:?} of AWS has {key}"))
            }
        };
        let error = malformed!(
            "{kind}, which is not supported: get keys by eval \"$(aws configure export-credentials --format \
             env{option})\""
        );
        Some(error.advising(Advice::AskUnsigned))
    }
}

/// Skips indented lines, which continue a value: these settings are short.
fn section(text: &str, is_meant: impl Fn(&str) -> bool) -> Option<HashMap<String, String>> {
    let (mut values, mut inside, mut is_there) = (HashMap::new(), false, false);
    for line in text.lines().filter(|line| !line.starts_with([' ', '\t', '#', ';'])) {
        if let Some(heading) = line.trim_end().strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            inside = is_meant(heading.trim());
            is_there |= inside;
        } else if let Some((key, value)) = line.split_once('=').filter(|_| inside) {
            values.insert(key.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    values.retain(|_, value| !value.is_empty());
    is_there.then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_profiles() {
        let text = "# a comment\n[default]\nregion = eu-west-1\nrole=\n[profile b]\nregion=us-west-2\n  nested = 1\n\
                    AWS_Access_Key_Id = AKIA=\r\n[c]\nregion=x\n";
        assert_eq!(section(text, |heading| heading == "profile c"), None);
        let default = section(text, |heading| heading == "default").expect("a heading");
        assert_eq!(default, HashMap::from([("region".to_owned(), "eu-west-1".to_owned())]));
        let b = section(text, |heading| heading == "profile b").expect("a heading");
        assert_eq!(b.get("aws_access_key_id").map(String::as_str), Some("AKIA="));
        assert_eq!((b.get("region").map(String::as_str), b.len()), (Some("us-west-2"), 2));
    }

    #[test]
    fn keys_are_not_displayed() {
        assert!(!endpoint("HF_ENDPOINT", "secret").expect_err("no URL").to_string().contains("secret"));
    }
}
