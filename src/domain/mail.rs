//! Mail to people: what they are told of, how often an address may be asked to confirm, and the links that need no
//! sign-in.

use super::Instant;
use super::ids::{OrganizationId, UserId};
use super::request::names;
use super::text::Violation;
use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use std::time::Duration;
use uuid::Uuid;

names! {
    /// What a mail is about.
    MailKind {
        /// Whoever reads an address is asked whether mails may be sent there.
        Confirmation = "confirmation",
        /// To an applicant: somebody decided on the request.
        Decisions = "decisions",
        /// To those who decide: requests wait for them.
        Submissions = "submissions",
        /// To administrators: a month was closed, or its closing stopped.
        Closings = "closings",
        /// To administrators: what follows an approval failed, and needs a person.
        Jobs = "jobs",
    }
}

impl MailKind {
    /// Those that a person can switch off.
    pub const SWITCHED: [Self; 4] = [Self::Decisions, Self::Submissions, Self::Closings, Self::Jobs];

    /// The kind of mail that an event is told by, if any.
    #[must_use]
    pub fn of_event(event_type: &str) -> Option<Self> {
        match event_type {
            "request.approve" | "request.reject" | "request.send_back" => Some(Self::Decisions),
            "request.submit" => Some(Self::Submissions),
            "closing.close" | "closing.block" => Some(Self::Closings),
            // Also one that was parked. One that an administrator cancelled has its cause before his eyes.
            "job.fail" => Some(Self::Jobs),
            _ => None,
        }
    }

    /// Written into links: never changes.
    const fn number(self) -> u8 {
        match self {
            Self::Confirmation => 0,
            Self::Decisions => 1,
            Self::Submissions => 2,
            Self::Closings => 3,
            Self::Jobs => 4,
        }
    }
}

names! {
    /// What a person reads.
    Language {
        /// English.
        En = "en",
        /// Japanese.
        Ja = "ja",
    }
}

/// How long a mail is tried to be sent, and how old an event may be that is still mailed: news of yesterday.
pub const NEWS: Duration = Duration::from_hours(24);
/// How long the link that confirms an address works.
pub const CONFIRM_WITHIN: Duration = Duration::from_hours(24);
/// The time over which confirmations are counted.
pub const COUNTED_OVER: Duration = Duration::from_hours(1);

/// A person's wishes, as their row says them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// Where to. `None`: nowhere.
    pub address: Option<String>,
    /// The language of the mails.
    pub language: Language,
    /// The kinds that are not wanted.
    pub off: Vec<MailKind>,
    /// When whoever reads the address said yes.
    pub confirmed_at: Option<Instant>,
    /// When a mail server last refused the address for good.
    pub refused_at: Option<Instant>,
}

impl Subscription {
    /// How it stands for somebody who never said anything.
    #[must_use]
    pub const fn none() -> Self {
        Self { address: None, language: Language::En, off: Vec::new(), confirmed_at: None, refused_at: None }
    }

    /// Whether mails of a kind are sent.
    #[must_use]
    pub fn wants(&self, kind: MailKind) -> bool {
        self.confirmed_at.is_some() && !self.off.contains(&kind)
    }
}

/// What a person asks for: all of it, each time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailWish {
    /// See [`Subscription::address`].
    pub address: Option<String>,
    /// By its name in the API.
    pub language: String,
    /// See [`Subscription::off`].
    pub off: Vec<MailKind>,
}

/// Why a wish about mail was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailRefusal {
    /// This installation sends no mail.
    NotConfigured,
    /// There is no address that still has to be confirmed.
    NothingToConfirm,
    /// Enough confirmations were asked for; so many seconds until the next.
    TooMany(u32),
    /// The wish breaks these rules.
    Invalid(Vec<Violation>),
}

/// The confirmations of the last [`COUNTED_OVER`]: how many, and when the oldest was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// How many.
    pub count: i64,
    /// When the oldest of them was. `None`: there are none.
    pub oldest: Option<Instant>,
}

/// What a wish leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wished {
    /// How it stands then.
    pub after: Subscription,
    /// The address is another: links to the old one die, and whoever reads the new one is asked.
    pub moved: bool,
}

/// Judges what a person asks for about his own mail.
///
/// # Errors
/// Every rule that it breaks.
pub fn wish(current: &Subscription, wish: &MailWish) -> Result<Wished, MailRefusal> {
    let mut broken = Vec::new();
    let language = Language::parse(&wish.language);
    if language.is_none() {
        broken.push(Violation::new("language", "range", "must be en or ja"));
    }
    if wish.address.as_deref().is_some_and(|address| !is_address(address)) {
        let detail = "must be a mail address such as aiko@example.com, in ASCII, of at most 254 characters";
        broken.push(Violation::new("address", "address", detail));
    }
    let (Some(language), true) = (language, broken.is_empty()) else { return Err(MailRefusal::Invalid(broken)) };
    let moved = wish.address != current.address;
    let kept = (!moved).then_some(current);
    Ok(Wished {
        after: Subscription {
            address: wish.address.clone(),
            language,
            off: MailKind::SWITCHED.into_iter().filter(|kind| wish.off.contains(kind)).collect(),
            confirmed_at: kept.and_then(|kept| kept.confirmed_at),
            refused_at: kept.and_then(|kept| kept.refused_at),
        },
        moved,
    })
}

/// An address that can be written into a mail's head as it is, and that mail servers everywhere take.
fn is_address(text: &str) -> bool {
    // The pattern of the table, too. What is quoted there is legal, but no mailbox has it.
    let plain = text.len() <= 254 && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"');
    plain && text.parse::<lettre::Address>().is_ok()
}

/// Judges whether an address may be asked to confirm once more: `limit` times an hour by a person, and to an address,
/// whoever names it.
///
/// # Errors
/// [`MailRefusal::TooMany`].
pub fn may_ask(by_person: Asked, to_address: Asked, limit: u32, now: Instant) -> Result<(), MailRefusal> {
    let full = [by_person, to_address].into_iter().filter(|asked| asked.count >= i64::from(limit));
    let Some(oldest) = full.filter_map(|asked| asked.oldest).max() else { return Ok(()) };
    let over = TimeDelta::from_std(COUNTED_OVER).unwrap_or_default();
    let seconds = (oldest + over - now).num_seconds().max(1);
    Err(MailRefusal::TooMany(u32::try_from(seconds).unwrap_or(u32::MAX)))
}

/// What a person's links are signed with. Never leaves the server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LinkKey(pub [u8; 32]);

impl std::fmt::Debug for LinkKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LinkKey")
    }
}

/// What a link in a mail does, for whoever has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Says yes to mails, until then. In seconds since 1970.
    Confirm(i64),
    /// Switches a kind off. Works for ever: a mail may be read after years.
    Unsubscribe(MailKind),
}

/// A link that needs no sign-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailLink {
    /// Where.
    pub organization_id: OrganizationId,
    /// Whose mails.
    pub user_id: UserId,
    /// What it does.
    pub purpose: Purpose,
}

/// A link as somebody sent it: it says what it would do, and proves nothing yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentLink {
    /// What it says.
    pub link: MailLink,
    tag: [u8; 32],
}

impl MailLink {
    fn body(&self) -> [u8; 41] {
        let (number, until) = match self.purpose {
            Purpose::Confirm(until) => (MailKind::Confirmation.number(), until),
            Purpose::Unsubscribe(kind) => (kind.number(), 0),
        };
        let parts = self.organization_id.0.as_bytes().iter().chain(self.user_id.0.as_bytes());
        let parts = parts.copied().chain([number]).chain(until.to_be_bytes());
        let mut body = [0; 41];
        body.iter_mut().zip(parts).for_each(|(to, from)| *to = from);
        body
    }

    /// The link's secret part: what it does, and the proof that this server says so. 98 characters of base64url.
    #[must_use]
    pub fn sign(&self, key: &LinkKey) -> String {
        let body = self.body();
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key.0), &body);
        URL_SAFE_NO_PAD.encode([body.as_slice(), tag.as_ref()].concat())
    }
}

impl SentLink {
    /// Reads what [`MailLink::sign`] wrote.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; 73] = URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
        let (organization, rest) = bytes.split_first_chunk::<16>()?;
        let (user, rest) = rest.split_first_chunk::<16>()?;
        let (number, rest) = rest.split_first()?;
        let (until, tag) = rest.split_first_chunk::<8>()?;
        let purpose = match *number {
            0 => Purpose::Confirm(i64::from_be_bytes(*until)),
            // One text for one link: what has no end has none written down.
            number if *until == [0; 8] => {
                Purpose::Unsubscribe(MailKind::SWITCHED.into_iter().find(|kind| kind.number() == number)?)
            }
            _ => return None,
        };
        let link = MailLink {
            organization_id: OrganizationId(Uuid::from_bytes(*organization)),
            user_id: UserId(Uuid::from_bytes(*user)),
            purpose,
        };
        Some(Self { link, tag: tag.try_into().ok()? })
    }

    /// What the link does, where it was signed with this key and its time is not over.
    #[must_use]
    pub fn proven(&self, key: &LinkKey, now: Instant) -> Option<Purpose> {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &key.0);
        hmac::verify(&key, &self.link.body(), &self.tag).ok()?;
        match self.link.purpose {
            Purpose::Confirm(until) if now.timestamp() >= until => None,
            purpose => Some(purpose),
        }
    }
}

/// How a person's mails stand after a link was used.
#[must_use]
pub fn follow(current: &Subscription, purpose: Purpose, now: Instant) -> Subscription {
    let mut after = current.clone();
    match purpose {
        Purpose::Confirm(_) => after.confirmed_at = after.confirmed_at.or(after.address.as_ref().map(|_| now)),
        Purpose::Unsubscribe(kind) => {
            after.off =
                MailKind::SWITCHED.into_iter().filter(|one| *one == kind || current.off.contains(one)).collect();
        }
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Instant {
        Instant::from_timestamp(1_700_000_000 + second, 0).expect("in range")
    }

    fn link(purpose: Purpose) -> MailLink {
        MailLink { organization_id: OrganizationId(Uuid::from_u128(1)), user_id: UserId(Uuid::from_u128(2)), purpose }
    }

    const KEY: LinkKey = LinkKey([7; 32]);

    #[test]
    fn a_link_proves_itself_and_nothing_else() {
        let purposes = MailKind::SWITCHED.map(Purpose::Unsubscribe);
        for purpose in purposes.into_iter().chain([Purpose::Confirm(at(60).timestamp())]) {
            let text = link(purpose).sign(&KEY);
            assert_eq!(text.len(), 98);
            let sent = SentLink::parse(&text).expect("its own");
            assert_eq!(sent.link, link(purpose));
            assert_eq!(sent.proven(&KEY, at(0)), Some(purpose));
            assert_eq!(sent.proven(&LinkKey([8; 32]), at(0)), None, "another address's key");
            for byte in 0..73 {
                let mut bytes = URL_SAFE_NO_PAD.decode(&text).expect("base64");
                bytes[byte] ^= 1;
                let bent = SentLink::parse(&URL_SAFE_NO_PAD.encode(&bytes));
                assert_eq!(bent.and_then(|bent| bent.proven(&KEY, at(0))), None, "byte {byte}");
            }
        }
        for garbage in ["", "x", "A", &"A".repeat(97), &"A".repeat(99), "ä", &"!".repeat(98)] {
            assert_eq!(SentLink::parse(garbage), None, "{garbage}");
        }
    }

    #[test]
    fn a_confirmation_ends_and_an_unsubscription_does_not() {
        let sent = |purpose| SentLink::parse(&link(purpose).sign(&KEY)).expect("its own");
        let confirm = Purpose::Confirm(at(60).timestamp());
        assert_eq!(sent(confirm).proven(&KEY, at(59)), Some(confirm));
        assert_eq!(sent(confirm).proven(&KEY, at(60)), None);
        let off = Purpose::Unsubscribe(MailKind::Jobs);
        assert_eq!(sent(off).proven(&KEY, at(1_000_000_000)), Some(off));
    }

    #[test]
    fn an_address_can_be_written_into_a_head() {
        for good in ["a@b.example", "aiko.tanaka+ringi@mail.example.co.jp", "x@[127.0.0.1]", "o'hara@example.com"] {
            assert!(is_address(good), "{good}");
        }
        let long = format!("a@{}.example", "x".repeat(260));
        for bad in [
            "",
            "a",
            "@b",
            "a@",
            "a b@c.example",
            "a@b.example\r\nBcc: x@y.example",
            "a@b.example\n",
            "a@b\u{0}.example",
            "\"a b\"@c.example",
            "\"x\"@c.example",
            "Aiko <a@b.example>",
            "a@b.example,c@d.example",
            "稟議@b.example",
            "a@稟議.example",
            "a..b@c.example",
            &long,
        ] {
            assert!(!is_address(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_new_address_has_to_be_confirmed_and_the_rest_stays() {
        let current = Subscription {
            address: Some("a@b.example".to_owned()),
            language: Language::Ja,
            off: vec![MailKind::Jobs],
            confirmed_at: Some(at(0)),
            refused_at: Some(at(1)),
        };
        let ask = |address: &str, off: &[MailKind]| MailWish {
            address: Some(address.to_owned()),
            language: "en".to_owned(),
            off: off.to_vec(),
        };
        let same = wish(&current, &ask("a@b.example", &[MailKind::Closings])).expect("good");
        assert!(!same.moved);
        assert_eq!((same.after.confirmed_at, same.after.off), (Some(at(0)), vec![MailKind::Closings]));
        let other = wish(&current, &ask("c@d.example", &[])).expect("good");
        assert!(other.moved);
        assert_eq!((other.after.confirmed_at, other.after.refused_at), (None, None));
        assert!(!other.after.wants(MailKind::Decisions));
        let bad = MailWish { address: Some("a".to_owned()), language: "fr".to_owned(), off: Vec::new() };
        let Err(MailRefusal::Invalid(broken)) = wish(&current, &bad) else { panic!("refused") };
        assert_eq!(broken.iter().map(|one| one.pointer.as_str()).collect::<Vec<_>>(), ["/language", "/address"]);
    }

    #[test]
    fn links_switch_one_kind_off_and_confirm_only_what_there_is() {
        let none = Subscription::none();
        assert_eq!(follow(&none, Purpose::Confirm(0), at(0)), none);
        let with = Subscription { address: Some("a@b.example".to_owned()), ..none };
        let confirmed = follow(&with, Purpose::Confirm(0), at(5));
        assert_eq!(confirmed.confirmed_at, Some(at(5)));
        assert_eq!(follow(&confirmed, Purpose::Confirm(0), at(9)), confirmed, "the first time counts");
        let off = follow(&confirmed, Purpose::Unsubscribe(MailKind::Submissions), at(9));
        assert!(off.wants(MailKind::Decisions) && !off.wants(MailKind::Submissions));
        assert_eq!(follow(&off, Purpose::Unsubscribe(MailKind::Submissions), at(10)), off);
    }

    #[test]
    fn confirmations_are_bounded_by_person_and_by_address() {
        let asked = |count, oldest| Asked { count, oldest: Some(at(oldest)) };
        let none = Asked::default();
        assert_eq!(may_ask(asked(4, 0), asked(4, 0), 5, at(10)), Ok(()));
        assert_eq!(may_ask(asked(5, 0), none, 5, at(10)), Err(MailRefusal::TooMany(3_590)));
        assert_eq!(may_ask(none, asked(5, 5), 5, at(10)), Err(MailRefusal::TooMany(3_595)));
        assert_eq!(may_ask(asked(5, 0), asked(9, 5), 5, at(3_604)), Err(MailRefusal::TooMany(1)));
    }
}
