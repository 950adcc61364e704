//! Who is asking: the bearer token of a request, and the user that it proves.
//!
//! The token says who. What that person may do is read from the locked membership row, never from here.

use super::problem::Problem;
use super::state::State;
use crate::domain::ids::UserId;
use crate::tokens::{Subject, TokenRefusal};
use actix_web::HttpRequest;
use actix_web::http::header;

impl State {
    /// Who sends this request.
    ///
    /// # Errors
    /// 401 `unauthenticated`; the reason goes to log and metrics only. 429 `rate_limited`. 503 when a person who is new to this process
    /// can't be looked up.
    pub(super) async fn user(&self, request: &HttpRequest) -> Result<UserId, Problem> {
        let subject = match bearer(request) {
            Ok(token) => self.tokens.check(token).await,
            Err(refusal) => Err(refusal),
        };
        let identity = match subject {
            Ok(Subject::User(user)) => return self.within_limit(user),
            Ok(Subject::Identity(identity)) => identity,
            Err(refusal) => {
                let problem = unauthenticated(refusal);
                // Guessing costs, too.
                self.limits.nobody(request.peer_addr(), request.headers())?;
                return Err(problem);
            }
        };
        if let Some(user) = self.identities.known(&identity) {
            return self.within_limit(user);
        }
        let identities = self.identities.clone();
        let user = self.run(async move { identities.user(&identity).await }).await?;
        self.within_limit(user)
    }

    fn within_limit(&self, user: UserId) -> Result<UserId, Problem> {
        self.limits.user(user).map(|()| user)
    }
}

fn unauthenticated(refusal: TokenRefusal) -> Problem {
    metrics::counter!("ringi_token_refusals_total", "reason" => refusal.name()).increment(1);
    tracing::debug!(%refusal, "token refused");
    match refusal {
        TokenRefusal::Missing => Problem::token_missing(),
        _ => Problem::token_refused(),
    }
}

/// The token of a request.
pub(super) fn bearer(request: &HttpRequest) -> Result<&str, TokenRefusal> {
    let mut values = request.headers().get_all(header::AUTHORIZATION);
    let (Some(value), None) = (values.next(), values.next()) else { return Err(TokenRefusal::Missing) };
    let (scheme, token) = value.to_str().ok().and_then(|text| text.split_once(' ')).ok_or(TokenRefusal::Missing)?;
    if scheme.eq_ignore_ascii_case("bearer") { Ok(token.trim()) } else { Err(TokenRefusal::Missing) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    #[test]
    fn one_bearer_header_is_needed() {
        let request = |headers: &[(&str, &str)]| {
            headers.iter().fold(TestRequest::default(), |r, h| r.append_header(*h)).to_http_request()
        };
        assert_eq!(bearer(&request(&[])), Err(TokenRefusal::Missing));
        assert_eq!(bearer(&request(&[("authorization", "Basic abc")])), Err(TokenRefusal::Missing));
        assert_eq!(bearer(&request(&[("authorization", "bearer abc")])), Ok("abc"));
        let twice = [("authorization", "Bearer a"), ("authorization", "Bearer b")];
        assert_eq!(bearer(&request(&twice)), Err(TokenRefusal::Missing));
    }
}
