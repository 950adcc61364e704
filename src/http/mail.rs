//! A person's own mail over HTTP, and the pages behind the links of mails, which need no sign-in and no script.

use super::body::Fields;
use super::extract::Query;
use super::page::policy;
use super::problem::Problem;
use super::state::{State, Write, answer, read_one, written};
use crate::domain::mail::{Language, MailKind, MailWish, Purpose, SentLink, Subscription};
use crate::domain::rfc3339;
use crate::domain::text::escape_html;
use crate::mail::preferences::{Followed, whose};
use crate::transaction::idempotency::Answer;
use actix_web::http::{StatusCode, header};
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use std::sync::LazyLock;
use utoipa::ToSchema;

type Response = Result<HttpResponse, Problem>;

/// The caller's own mail in an organization.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OwnMail)]
#[expect(clippy::struct_excessive_bools, reason = "one for each kind of mail, as a form has them")]
pub(super) struct OwnMailDto {
    /// False: this installation sends no mail.
    enabled: bool,
    /// Where to; null: nowhere.
    #[schema(required = true)]
    address: Option<String>,
    /// Nothing but the question is sent to an address before whoever reads it has said yes.
    confirmed: bool,
    #[schema(value_type = LanguageDto)]
    language: &'static str,
    /// To applicants: somebody decided on the request.
    decisions: bool,
    /// To those who decide: requests wait for them. One mail for those of a while.
    submissions: bool,
    /// To administrators: a month was closed, or its closing stopped.
    closings: bool,
    /// To administrators: what follows an approval failed, and needs a person.
    jobs: bool,
    /// When a mail server last said that it takes no mail to this address; null: never.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    refused_at: Option<String>,
}

/// What a person reads.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Language)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "the schema of a string, which `Language::as_str` writes")]
enum LanguageDto {
    En,
    Ja,
}

impl OwnMailDto {
    fn new(subscription: &Subscription, enabled: bool) -> Self {
        let on = |kind| !subscription.off.contains(&kind);
        Self {
            enabled,
            address: subscription.address.clone(),
            confirmed: subscription.confirmed_at.is_some(),
            language: subscription.language.as_str(),
            decisions: on(MailKind::Decisions),
            submissions: on(MailKind::Submissions),
            closings: on(MailKind::Closings),
            jobs: on(MailKind::Jobs),
            refused_at: subscription.refused_at.map(rfc3339),
        }
    }
}

pub(super) async fn get(request: HttpRequest, state: Data<State>) -> Response {
    let viewer = state.viewer(&request).await?;
    Query::parse(&request, &[])?;
    let mail = state.mail.clone();
    let found = state.look(viewer, async move { mail.get(viewer).await }).await?;
    Ok(read_one(&request, &OwnMailDto::new(&found, state.mail.is_on())))
}

fn stands(subscription: &Subscription) -> Answer {
    // What could be changed here is sent from here.
    answer(StatusCode::OK, None, &OwnMailDto::new(subscription, true))
}

pub(super) async fn set(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let Write { call, mut fields } = Write::read(&request, payload, &state).await?;
    let wish = wish(&mut fields);
    fields.finish()?;
    let mail = state.mail.clone();
    written(state.run(async move { mail.set(&call, &wish, &stands).await }).await?)
}

fn wish(fields: &mut Fields) -> MailWish {
    fields.require(&["address"]);
    let address = fields.optional_text("address");
    let language = fields.text("language");
    let mut off = Vec::new();
    for kind in MailKind::SWITCHED {
        if !fields.flag(kind.as_str()) {
            off.push(kind);
        }
    }
    MailWish { address, language, off }
}

pub(super) async fn ask_again(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let Write { call, fields } = Write::read(&request, payload, &state).await?;
    fields.finish()?;
    let mail = state.mail.clone();
    written(state.run(async move { mail.ask_again(&call, &stands).await }).await?)
}

/// What a link of a mail does, of the two kinds there are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Door {
    Confirm,
    Unsubscribe,
}

impl Door {
    const fn leads_to(self, purpose: Purpose) -> bool {
        matches!((self, purpose), (Self::Confirm, Purpose::Confirm(_)) | (Self::Unsubscribe, Purpose::Unsubscribe(_)))
    }

    fn link(self, request: &HttpRequest) -> Option<SentLink> {
        // Programs on a mail's way append parameters of their own.
        let query = request.uri().query().unwrap_or_default();
        let token = query.split('&').find_map(|part| part.strip_prefix("token="))?;
        SentLink::parse(token).filter(|sent| self.leads_to(sent.link.purpose))
    }

    /// Asks: looking does nothing, since programs follow every link of a mail.
    async fn look(self, request: HttpRequest, state: Data<State>) -> Response {
        let found = match self.link(&request) {
            None => None,
            Some(sent) => {
                let mail = state.mail.clone();
                state.look(whose(&sent), async move { mail.look(&sent).await }).await?
            }
        };
        Ok(match found {
            Some(followed) => page(StatusCode::OK, followed.language, asking(followed), true),
            None => dead(&request),
        })
    }

    /// Does it. A mail program that posts by itself (RFC 8058) is answered like a person.
    async fn follow(self, request: HttpRequest, state: Data<State>) -> Response {
        let Some(sent) = self.link(&request) else { return Ok(dead(&request)) };
        let mail = state.mail.clone();
        let done = state.run(async move { mail.follow(&sent).await }).await?;
        Ok(match done {
            Some(followed) => page(StatusCode::OK, followed.language, done_words(followed), false),
            None => dead(&request),
        })
    }
}

pub(super) async fn confirmation(request: HttpRequest, state: Data<State>) -> Response {
    Door::Confirm.look(request, state).await
}

pub(super) async fn confirm(request: HttpRequest, state: Data<State>) -> Response {
    Door::Confirm.follow(request, state).await
}

pub(super) async fn unsubscription(request: HttpRequest, state: Data<State>) -> Response {
    Door::Unsubscribe.look(request, state).await
}

pub(super) async fn unsubscribe(request: HttpRequest, state: Data<State>) -> Response {
    Door::Unsubscribe.follow(request, state).await
}

/// Head, sentence, and what the button says.
type Said = [&'static str; 3];

fn asking(followed: Followed) -> Said {
    match (followed.purpose, followed.language) {
        (Purpose::Confirm(_), Language::En) => {
            ["Mail from Ringi", "Shall news from Ringi be sent to this address?", "Yes, send it here"]
        }
        (Purpose::Confirm(_), Language::Ja) => {
            ["Ringi からのメール", "このアドレスで Ringi の通知を受け取りますか？", "受け取る"]
        }
        (Purpose::Unsubscribe(kind), Language::En) => [
            "No more of these?",
            match kind {
                MailKind::Submissions => "Ringi will send you no more mail about requests that wait for you.",
                MailKind::Closings => "Ringi will send you no more mail about the closing of months.",
                MailKind::Jobs => "Ringi will send you no more mail about failed processing.",
                MailKind::Decisions | MailKind::Confirmation => {
                    "Ringi will send you no more mail about decisions on your requests."
                }
            },
            "No more of these",
        ],
        (Purpose::Unsubscribe(kind), Language::Ja) => [
            "この通知を停止しますか？",
            match kind {
                MailKind::Submissions => "承認待ちの申請についてのメールを停止します。",
                MailKind::Closings => "月次締めについてのメールを停止します。",
                MailKind::Jobs => "承認後の処理の失敗についてのメールを停止します。",
                MailKind::Decisions | MailKind::Confirmation => "申請の決裁結果についてのメールを停止します。",
            },
            "停止する",
        ],
    }
}

const fn done_words(followed: Followed) -> Said {
    match (followed.purpose, followed.language) {
        (Purpose::Confirm(_), Language::En) => {
            ["Confirmed", "News from Ringi is sent here from now on. You can close this page.", ""]
        }
        (Purpose::Confirm(_), Language::Ja) => {
            ["確認しました", "今後、Ringi の通知をこのアドレスにお送りします。このページは閉じて構いません。", ""]
        }
        (Purpose::Unsubscribe(_), Language::En) => {
            ["Done", "You get no more of these. In Ringi you can switch them on again.", ""]
        }
        (Purpose::Unsubscribe(_), Language::Ja) => {
            ["停止しました", "この種類の通知は今後送られません。Ringi の設定でいつでも再開できます。", ""]
        }
    }
}

/// A link that does nothing (any more). Whose it was is not known: the browser says what its person reads.
fn dead(request: &HttpRequest) -> HttpResponse {
    let reads = request.headers().get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let japanese = reads.is_some_and(|reads| reads.trim_start().starts_with("ja"));
    if japanese {
        let said = [
            "このリンクは使えません",
            "期限が切れたか、新しいアドレスに変更されています。Ringi の設定から、もう一度確認メールを送れます。",
            "",
        ];
        return page(StatusCode::NOT_FOUND, Language::Ja, said, false);
    }
    let said = [
        "This link does not work",
        "Its time is over, or the address was changed since. In Ringi you can have another one sent, and change what you get.",
        "",
    ];
    page(StatusCode::NOT_FOUND, Language::En, said, false)
}

fn page(status: StatusCode, language: Language, said: Said, asks: bool) -> HttpResponse {
    const PAGE: &str = include_str!("mail_link.html");
    // The form posts to where it came from, and nowhere else.
    static POLICY: LazyLock<String> =
        LazyLock::new(|| policy(PAGE).replace("form-action 'none'", "form-action 'self'"));
    let [head, sentence, go] = said;
    let form =
        if asks { format!("<form method=\"post\"><button>{}</button></form>", escape_html(go)) } else { String::new() };
    let text = PAGE
        .replace("{language}", language.as_str())
        .replace("{head}", &escape_html(head))
        .replace("{sentence}", &escape_html(sentence))
        .replace("{form}", &form);
    HttpResponse::build(status)
        .content_type("text/html; charset=utf-8")
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY.as_str()))
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .body(text)
}
