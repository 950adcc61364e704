//! How a letter reads: subject, plain text and HTML from the same blocks, in English and in Japanese.

use super::letter::{Content, Letter, NAMED, Waiting};
use crate::domain::ids::RequestId;
use crate::domain::mail::Language;
use crate::domain::request::Action;
use crate::domain::text::{escape_html, one_line};
use std::fmt::Write;

/// A mail's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// One line.
    pub subject: String,
    /// For who reads plain text.
    pub text: String,
    /// For everybody else: a whole document, which loads nothing.
    pub html: String,
    /// Where a mail program may switch this kind of mail off (RFC 8058). `None` in a confirmation.
    pub unsubscribe: Option<String>,
}

/// A part of a mail, above the next.
enum Block {
    /// A sentence or two.
    Said(String),
    /// What a person wrote, in paragraphs.
    Quoted(String),
    /// Things with an address each.
    Listed(Vec<(String, String)>),
    /// The one thing to do.
    Go(String, String),
    /// What stands below.
    Small(String),
    /// The same, with an address.
    SmallGo(String, String),
}

/// Writes letters whose links lead to an installation's own address.
#[derive(Clone, Debug)]
pub struct Writer {
    /// Without a slash at its end.
    public_url: String,
}

impl Writer {
    /// For the installation at this address, such as `https://ringi.example`.
    #[must_use]
    pub fn new(public_url: &str) -> Self {
        Self { public_url: public_url.trim_end_matches('/').to_owned() }
    }

    /// The words of a letter.
    #[must_use]
    pub fn write(&self, letter: &Letter) -> Words {
        let japanese = letter.language == Language::Ja;
        let either = |en: &str, ja: &str| if japanese { ja } else { en }.to_owned();
        let organization = one_line(&letter.organization_name);
        let (subject, mut blocks) = match &letter.content {
            Content::Confirmation { .. } => return self.confirmation(letter, &organization),
            Content::Decision { request_id, title, action, actor_name, reason } => {
                let (title, actor) = (one_line(title), one_line(actor_name));
                let (subject, said) = decision(*action, japanese, &title, &actor);
                let mut blocks = vec![Block::Said(said)];
                if let Some(reason) = reason {
                    blocks.push(Block::Said(either("The reason:", "理由:")));
                    blocks.push(Block::Quoted(reason.clone()));
                }
                blocks.push(Block::Go(
                    either("Open the request", "申請を開く"),
                    self.request(letter, "mine", *request_id),
                ));
                (subject, blocks)
            }
            Content::Submissions { count, named } => self.digest(letter, *count, named),
            Content::Closing { period, blocked } => {
                let page = self.organization(letter, &format!("months/{period}"));
                let (subject, said) = match (blocked, japanese) {
                    (None, false) => (format!("{period} is closed"), format!("The month {period} is closed.")),
                    (None, true) => {
                        (format!("{period} の月次締めが完了"), format!("{period} の月次締めが完了しました。"))
                    }
                    (Some(rows), false) => (
                        format!("The closing of {period} has stopped"),
                        format!(
                            "The closing of {period} has stopped: {rows} row(s) can't be confirmed. Correct each, or move it into the next month, and close again."
                        ),
                    ),
                    (Some(rows), true) => (
                        format!("{period} の月次締めが停止"),
                        format!(
                            "{period} の月次締めが停止しました。確定できない行が {rows} 件あります。各行を訂正するか翌月に移してから、もう一度締めてください。"
                        ),
                    ),
                };
                (subject, vec![Block::Said(said), Block::Go(either("Open the month", "月次を開く"), page)])
            }
            Content::Job { request_id, title } => {
                let title = one_line(title);
                let (subject, said) = if japanese {
                    (
                        format!("承認後の処理が失敗: {title}"),
                        format!(
                            "申請「{title}」の承認後の処理が失敗し、自動では再試行されません。原因を確認し、再開してください。"
                        ),
                    )
                } else {
                    (
                        format!("Processing failed: {title}"),
                        format!(
                            "What follows the approval of “{title}” has failed and is not tried again by itself. Look at why, and start it again."
                        ),
                    )
                };
                let page = self.request(letter, "all", *request_id);
                (subject, vec![Block::Said(said), Block::Go(either("Open the request", "申請を開く"), page)])
            }
        };
        let off = self.public(&format!("mail/unsubscribe?token={}", letter.link()));
        blocks.push(Block::Small(if japanese {
            format!("{organization}の Ringi でメール通知を有効にしているため、お送りしています。")
        } else {
            format!("You get this because you asked for mail of {organization} in Ringi.")
        }));
        blocks.push(Block::SmallGo(either("No more of these", "この種類の通知を停止"), off.clone()));
        blocks.push(Block::SmallGo(either("What you get mail about", "通知の設定"), self.organization(letter, "mail")));
        Words { unsubscribe: Some(off), ..render(letter.language, subject, Some(&letter.receiver_name), &blocks) }
    }

    /// Says nothing that a person chose but the organization's name: whoever has somebody else's address asked to confirm
    /// can't make a letter of it.
    fn confirmation(&self, letter: &Letter, organization: &str) -> Words {
        let go = self.public(&format!("mail/confirm?token={}", letter.link()));
        let (subject, blocks) = if letter.language == Language::Ja {
            (
                format!("メールアドレスの確認（{organization}）"),
                vec![
                    Block::Said(format!(
                        "{organization}の Ringi で、このアドレス宛てのメール通知が設定されました。受け取るには、24 時間以内に確認してください。"
                    )),
                    Block::Go("アドレスを確認する".to_owned(), go),
                    Block::Small(
                        "お心当たりがない場合は、何もしないでください。確認されるまで通知は送られません。".to_owned(),
                    ),
                ],
            )
        } else {
            (
                format!("Confirm your address ({organization})"),
                vec![
                    Block::Said(format!(
                        "Somebody, probably you, asked for mail of {organization} in Ringi at this address. To get it, confirm within 24 hours."
                    )),
                    Block::Go("Confirm the address".to_owned(), go),
                    Block::Small("If it was not you, do nothing: without a yes no news is sent here.".to_owned()),
                ],
            )
        };
        render(letter.language, subject, None, &blocks)
    }

    fn digest(&self, letter: &Letter, count: u64, named: &[Waiting]) -> (String, Vec<Block>) {
        let japanese = letter.language == Language::Ja;
        let subject = match (named, count, japanese) {
            ([one], 1, false) => format!("Waits for your decision: {}", one_line(&one.title)),
            ([one], 1, true) => format!("承認待ち: {}", one_line(&one.title)),
            (_, _, false) => format!("{count} requests wait for your decision"),
            (_, _, true) => format!("承認待ちの申請が {count} 件あります"),
        };
        let said = if japanese {
            "次の申請があなたの承認を待っています。"
        } else {
            "You could decide on this now:"
        };
        let list = named.iter().take(NAMED).map(|waiting| {
            let (title, applicant) = (one_line(&waiting.title), one_line(&waiting.applicant_name));
            let money = money(waiting.amount, waiting.currency.as_deref());
            let line = match (money, japanese) {
                (Some(money), false) => format!("{title} ({applicant}, {money})"),
                (None, false) => format!("{title} ({applicant})"),
                (Some(money), true) => format!("{title}（{applicant}、{money}）"),
                (None, true) => format!("{title}（{applicant}）"),
            };
            (line, self.request(letter, "inbox", waiting.request_id))
        });
        let mut blocks = vec![Block::Said(said.to_owned()), Block::Listed(list.collect())];
        let more = count.saturating_sub(u64::try_from(named.len()).unwrap_or(u64::MAX));
        if more > 0 {
            blocks.push(Block::Said(if japanese { format!("ほか {more} 件") } else { format!("And {more} more.") }));
        }
        let label = if japanese { "受信箱を開く" } else { "Open the inbox" };
        blocks.push(Block::Go(label.to_owned(), self.organization(letter, "inbox")));
        (subject, blocks)
    }

    fn public(&self, path: &str) -> String {
        format!("{}/{path}", self.public_url)
    }

    fn organization(&self, letter: &Letter, path: &str) -> String {
        self.public(&format!("o/{}/{path}", letter.organization_id))
    }

    fn request(&self, letter: &Letter, view: &str, request: RequestId) -> String {
        self.organization(letter, &format!("{view}/{request}"))
    }
}

fn decision(action: Action, japanese: bool, title: &str, actor: &str) -> (String, String) {
    let (en, done, ja) = match action {
        Action::Approve => ("Approved", "approved", "承認"),
        Action::Reject => ("Rejected", "rejected", "却下"),
        _ => ("Sent back", "sent back", "差し戻し"),
    };
    if japanese {
        (format!("{ja}: {title}"), format!("{actor}さんがあなたの申請「{title}」を{ja}しました。"))
    } else {
        (format!("{en}: {title}"), format!("{actor} {done} your request “{title}”."))
    }
}

/// An amount as people write it: `JPY 48,600`, `USD 12.50`.
fn money(amount: Option<i64>, currency: Option<&str>) -> Option<String> {
    let (amount, code) = (amount?, currency?);
    let decimals = iso_currency::Currency::from_code(code).and_then(iso_currency::Currency::exponent).unwrap_or(0);
    let decimals = usize::from(decimals);
    let digits = format!("{:0>width$}", amount.unsigned_abs(), width = decimals + 1);
    let (whole, part) = digits.split_at(digits.len() - decimals);
    let mut text = format!("{code} {}", if amount < 0 { "-" } else { "" });
    for (n, digit) in whole.chars().enumerate() {
        if n > 0 && (whole.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if !part.is_empty() {
        text.push('.');
        text.push_str(part);
    }
    Some(text)
}

/// Everything that is not ours is escaped here, once.
fn render(language: Language, subject: String, receiver: Option<&str>, blocks: &[Block]) -> Words {
    let hello = receiver.map(|name| {
        let name = one_line(name);
        Block::Said(if language == Language::Ja { format!("{name} 様") } else { format!("Hello {name},") })
    });
    let (mut text, mut body, mut small) = (String::new(), String::new(), false);
    // Writing into a String can't fail.
    macro_rules! put {
        ($to:ident, $($part:tt)*) => {{
            let _ = writeln!($to, $($part)*);
        }};
    }
    for block in hello.iter().chain(blocks) {
        let below = matches!(block, Block::Small(_) | Block::SmallGo(..));
        if below && !small {
            text.push_str("-- \n");
            body.push_str("<hr>\n");
        }
        small |= below;
        match block {
            Block::Said(said) => {
                put!(text, "{said}\n");
                put!(body, "<p>{}</p>", escape_html(said));
            }
            Block::Quoted(quoted) => {
                for line in quoted.lines() {
                    put!(text, "> {line}");
                }
                text.push('\n');
                put!(body, "<blockquote style=\"white-space:pre-wrap\">{}</blockquote>", escape_html(quoted));
            }
            Block::Listed(list) => {
                body.push_str("<ul>\n");
                for (label, url) in list {
                    put!(text, "* {label}\n  {url}");
                    put!(body, "<li><a href=\"{}\">{}</a></li>", escape_html(url), escape_html(label));
                }
                text.push('\n');
                body.push_str("</ul>\n");
            }
            Block::Go(label, url) => {
                put!(text, "{label}:\n{url}\n");
                put!(body, "<p><a href=\"{}\"><strong>{}</strong></a></p>", escape_html(url), escape_html(label));
            }
            Block::Small(said) => {
                put!(text, "{said}");
                put!(body, "<p><small>{}</small></p>", escape_html(said));
            }
            Block::SmallGo(label, url) => {
                put!(text, "{label}: {url}");
                put!(body, "<p><small><a href=\"{}\">{}</a></small></p>", escape_html(url), escape_html(label));
            }
        }
    }
    let html = format!(
        "<!doctype html>\n<html lang=\"{}\">\n<head><meta charset=\"utf-8\"><title>{}</title></head>\n<body>\n{body}</body>\n</html>\n",
        language.as_str(),
        escape_html(&subject),
    );
    Words { subject, text, html, unsubscribe: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{OrganizationId, UserId};
    use crate::domain::mail::LinkKey;
    use uuid::Uuid;

    fn letter(language: Language, content: Content) -> Letter {
        Letter {
            id: Uuid::from_u128(5),
            organization_id: OrganizationId(Uuid::from_u128(1)),
            organization_name: "Kumo & Söhne".to_owned(),
            receiver: UserId(Uuid::from_u128(2)),
            receiver_name: "Aiko\r\nBcc: x@y.example".to_owned(),
            address: "aiko@kumo.example".to_owned(),
            language,
            key: LinkKey([7; 32]),
            attempts: 1,
            content,
        }
    }

    fn contents() -> Vec<Content> {
        let request_id = RequestId(Uuid::from_u128(3));
        let title = "<b>Desk</b>\r\n\"50 %\" & 'more'".to_owned();
        let waiting = |amount, currency: Option<&str>| Waiting {
            request_id,
            title: title.clone(),
            applicant_name: "<i>Ben</i>".to_owned(),
            amount,
            currency: currency.map(str::to_owned),
        };
        let decision = |action, reason: Option<&str>| Content::Decision {
            request_id,
            title: title.clone(),
            action,
            actor_name: "<i>Ben</i>\n".to_owned(),
            reason: reason.map(str::to_owned),
        };
        vec![
            Content::Confirmation { until: 1_700_000_000 },
            decision(Action::Approve, None),
            decision(Action::Reject, Some("Too <expensive>.\nAnd late.")),
            decision(Action::SendBack, Some("Which one?")),
            Content::Submissions { count: 1, named: vec![waiting(Some(48_600), Some("JPY"))] },
            Content::Submissions { count: 25, named: vec![waiting(Some(1_250), Some("USD")), waiting(None, None)] },
            Content::Closing { period: "2026-10".to_owned(), blocked: None },
            Content::Closing { period: "2026-10".to_owned(), blocked: Some(3) },
            Content::Job { request_id, title },
        ]
    }

    #[test]
    fn nothing_that_people_wrote_is_markup_or_a_second_line_of_a_head() {
        let writer = Writer::new("https://ringi.example/");
        for language in [Language::En, Language::Ja] {
            for content in contents() {
                let words = writer.write(&letter(language, content));
                assert!(!words.subject.chars().any(char::is_control), "{:?}", words.subject);
                for markup in ["<b>", "<i>", "<expensive>", "& Söhne"] {
                    assert!(!words.html.contains(markup), "{markup}: {}", words.html);
                }
                assert!(!words.text.lines().any(|line| line.starts_with("Bcc:")), "{}", words.text);
                assert!(words.html.starts_with(&format!("<!doctype html>\n<html lang=\"{}\">", language.as_str())));
            }
        }
    }

    #[test]
    fn every_mail_says_the_same_in_text_and_html_and_leads_to_the_page() {
        let writer = Writer::new("https://ringi.example");
        for content in contents() {
            let words = writer.write(&letter(Language::En, content.clone()));
            for url in words.text.split_whitespace().filter(|word| word.starts_with("https://")) {
                assert!(words.html.contains(&escape_html(url)), "{url}");
                assert!(url.starts_with("https://ringi.example/"), "{url}");
            }
            let confirms = matches!(content, Content::Confirmation { .. });
            assert_eq!(words.unsubscribe.is_none(), confirms);
            assert_eq!(words.text.contains("/mail/confirm?token="), confirms);
            assert_eq!(words.text.contains("Aiko"), !confirms, "a confirmation says nothing that a person chose");
        }
    }

    #[test]
    fn each_language_has_words_of_its_own() {
        let writer = &Writer::new("https://ringi.example");
        let subjects =
            |language| contents().into_iter().map(move |content| writer.write(&letter(language, content)).subject);
        let subjects: Vec<(String, String)> = subjects(Language::En).zip(subjects(Language::Ja)).collect();
        assert!(subjects.iter().all(|(en, ja)| en.is_ascii() != ja.is_ascii() || en != ja), "{subjects:?}");
        assert_eq!(subjects[1].0, "Approved: <b>Desk</b> \"50 %\" & 'more'");
        assert_eq!(subjects[1].1, "承認: <b>Desk</b> \"50 %\" & 'more'");
        assert_eq!(subjects[5].0, "25 requests wait for your decision");
        assert_eq!(subjects[5].1, "承認待ちの申請が 25 件あります");
    }

    #[test]
    fn amounts_are_written_in_the_currencys_own_unit() {
        let write = |amount, code| money(Some(amount), Some(code)).expect("both");
        assert_eq!(write(48_600, "JPY"), "JPY 48,600");
        assert_eq!(write(5, "USD"), "USD 0.05");
        assert_eq!(write(123_456_789, "USD"), "USD 1,234,567.89");
        assert_eq!(write(1_000, "KWD"), "KWD 1.000");
        assert_eq!(write(9_007_199_254_740_991, "JPY"), "JPY 9,007,199,254,740,991");
        assert_eq!(money(None, None), None);
    }
}
