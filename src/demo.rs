//! The demo organization: people, requests in every status, and charges of two months, made by the use cases themselves, so that history,
//! chain and events are as in real life. Loading it twice is the same as once.

use crate::app::{AppError, UseCases};
use crate::approvals::view::{ListQuery, RequestView, View};
use crate::closing::charges::ImportRow;
use crate::closing::view::RowResult;
use crate::domain::charge::{ChargeContent, IMPORT_MAX, NewCharge};
use crate::domain::content::Content;
use crate::domain::ids::{ChargeId, OrganizationId, RequestId, UserId};
use crate::domain::member::MemberRefusal;
use crate::domain::member::{Member, MemberInput};
use crate::domain::period::Period;
use crate::domain::request::{Command, Status};
use crate::members::MemberError;
use crate::pg::{NewOrganization, OrganizationError, PgStore, create_organization};
use crate::transaction::idempotency::Answer;
use crate::transaction::{Call, Viewer};
use uuid::Uuid;

/// The demo organization's id.
pub const ORGANIZATION: OrganizationId = OrganizationId(Uuid::from_u128(0x0197_c0de_0000_7000_8000_0000_0000_0001));

/// Somebody in the demo organization.
#[derive(Clone, Copy, Debug)]
pub struct Person {
    /// The user's id, the same in every demo.
    pub id: UserId,
    /// The name.
    pub name: &'static str,
    /// May decide.
    pub can_approve: bool,
    /// Administers.
    pub is_admin: bool,
}

const fn person(n: u128, name: &'static str, can_approve: bool, is_admin: bool) -> Person {
    Person { id: UserId(Uuid::from_u128(0x0197_c0de_0000_7000_8000_0000_0000_0100 + n)), name, can_approve, is_admin }
}

const AIKO: Person = person(1, "Aiko Tanaka", false, false);
const BEN: Person = person(2, "Ben Okafor", true, false);
const CHIE: Person = person(3, "Chie Sato 佐藤千恵", true, false);
const DARA: Person = person(4, "Dara Lindqvist", false, true);

/// The people of the demo organization.
pub const PEOPLE: [Person; 4] = [AIKO, BEN, CHIE, DARA];

/// Who does what next.
type Step = (Person, fn() -> Command);

/// A request of the demo: its title is its name, its steps lead to where it stands.
struct Story {
    applicant: Person,
    title: &'static str,
    description: &'static str,
    money: Option<(i64, &'static str)>,
    steps: &'static [Step],
}

fn because(command: fn(Option<String>) -> Command, reason: &str) -> Command {
    command(Some(reason.to_owned()))
}

const STORIES: &[Story] = &[
    Story {
        applicant: AIKO,
        title: "Team offsite in Hakone",
        description: "Two days in March, eleven people. Still comparing inns.",
        money: Some((380_000, "JPY")),
        steps: &[],
    },
    Story {
        applicant: AIKO,
        title: "大阪出張費",
        description: "12月の展示会。新幹線往復と一泊。",
        money: Some((48_600, "JPY")),
        steps: &[(AIKO, || Command::Submit)],
    },
    Story {
        applicant: BEN,
        title: "Standing desks for the support team",
        description: "Six desks; the quotation is from last week.",
        money: Some((412_000, "JPY")),
        steps: &[(BEN, || Command::Submit)],
    },
    Story {
        applicant: AIKO,
        title: "Replacement laptop",
        description: "The old one no longer holds a charge.",
        money: Some((189_900, "USD")),
        steps: &[(AIKO, || Command::Submit), (BEN, || Command::Approve(None))],
    },
    Story {
        applicant: CHIE,
        title: "翻訳ソフトの年間契約",
        description: "利用者は五名。",
        money: Some((66_000, "JPY")),
        steps: &[(CHIE, || Command::Submit), (BEN, || because(Command::Approve, "予算内です。"))],
    },
    Story {
        applicant: AIKO,
        title: "First-class flight to Paris",
        description: "For the conference in May.",
        money: Some((920_000, "EUR")),
        steps: &[
            (AIKO, || Command::Submit),
            (CHIE, || because(Command::Reject, "Economy, please: see the travel policy.")),
        ],
    },
    Story {
        applicant: AIKO,
        title: "Office plants",
        description: "Green is good.",
        money: None,
        steps: &[(AIKO, || Command::Submit), (CHIE, || because(Command::SendBack, "How many, and what do they cost?"))],
    },
    Story {
        applicant: BEN,
        title: "Second monitor",
        description: "Found one in the storeroom.",
        money: Some((32_000, "JPY")),
        steps: &[(BEN, || Command::Submit), (BEN, || Command::Withdraw(None))],
    },
];

/// Before the month and the number of a charge.
const FIRST_CHARGE: u128 = 0x0197_c0de_0000_7000_8000_c000_0000_0000;

/// What is spent: on what, about how much in the minor unit, and in which currency.
const SPENDINGS: &[(&str, i64, &str)] = &[
    ("Taxi 東京駅", 1_840, "JPY"),
    ("Train Osaka", 14_720, "JPY"),
    ("昼食・打ち合わせ", 3_200, "JPY"),
    ("Cloud hosting", 12_900, "USD"),
    ("文房具", 980, "JPY"),
    ("Hotel Berlin", 14_900, "EUR"),
    ("Team dinner", 28_400, "JPY"),
];

/// Makes what is missing of the demo organization.
///
/// # Errors
/// When the database does not do it.
pub async fn load(store: &PgStore, use_cases: &UseCases) -> Result<(), AppError> {
    let new = NewOrganization {
        id: ORGANIZATION,
        name: "Kumo Trading 雲商事".to_owned(),
        time_zone: "Asia/Tokyo".to_owned(),
        admin_id: DARA.id,
        admin: input(&DARA),
    };
    match create_organization(store, &new).await {
        Ok(()) | Err(OrganizationError::Exists(_)) => {}
        Err(error) => return Err(failed(error)),
    }
    let nothing = |_: &Member| Answer { status: 200, location: None, body: Vec::new() };
    for person in PEOPLE.iter().filter(|person| person.id != DARA.id) {
        match use_cases.members.add(&call(DARA), person.id, &input(person), &nothing).await {
            Ok(_) | Err(MemberError::Refused(MemberRefusal::AlreadyAMember)) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    for story in STORIES {
        tell(use_cases, story).await?;
    }
    // A demo that is older than charges has approvals without them.
    use_cases.closings.backfill(Some(ORGANIZATION)).await.map_err(failed)?;
    let present = use_cases.closings.present_month(ORGANIZATION).await.map_err(failed)?;
    for (month, days, charges) in [(present.and_then(Period::previous), 27, 2_400), (present, 1, 120)] {
        let Some(month) = month else { continue };
        let rows: Vec<ImportRow> = (0..charges).filter_map(|n| spending(month, n, days)).collect();
        let nothing = |_: &[RowResult]| Answer { status: 200, location: None, body: Vec::new() };
        for rows in rows.chunks(IMPORT_MAX) {
            use_cases.closings.import(&call(DARA), rows, &nothing).await.map_err(failed)?;
        }
    }
    Ok(())
}

/// The `n`th charge of a month, the same every time, on one of its first days, in working hours.
fn spending(month: Period, n: u32, days: u32) -> Option<ImportRow> {
    let (description, yen, currency) = *SPENDINGS.get(usize::try_from(n).ok()? % SPENDINGS.len())?;
    let hour = 3 + n % 6;
    let occurred_at = month.first_day().and_hms_opt(hour, n % 60, (n / 60) % 60)?.and_utc();
    let id = ChargeId(Uuid::from_u128(FIRST_CHARGE + (u128::from(month.number()) << 16) + u128::from(n)));
    let content = ChargeContent {
        occurred_at: occurred_at + chrono::Duration::days(i64::from(n / 3 % days)),
        amount: yen + i64::from(n * 37 % 900),
        currency: currency.to_owned(),
        description: Some(description.to_owned()),
    };
    Some(ImportRow { id: Some(id), charge: Ok(NewCharge { id, content, reverses: None }) })
}

async fn tell(use_cases: &UseCases, story: &Story) -> Result<(), AppError> {
    let viewer = call(story.applicant).viewer;
    let query = ListQuery { view: View::Mine, text: Some(story.title.to_owned()), ..ListQuery::default() };
    let found = use_cases.approvals.list(viewer, &query, None, 1).await.map_err(failed)?;
    let mut view = match found.items.into_iter().next() {
        Some(view) => view,
        None => create(use_cases, story).await?,
    };
    // Where an interrupted load stopped, this one goes on. What people did since is left as it is.
    let told = usize::try_from(view.request.version - 1).unwrap_or(usize::MAX);
    let untouched = view.request.status == Status::Draft || told < story.steps.len();
    for (person, command) in story.steps.iter().skip(told).filter(|_| untouched) {
        let nothing = |_: &RequestView| Answer { status: 200, location: None, body: Vec::new() };
        let (id, version) = (view.request.id, view.request.version);
        use_cases.approvals.act(&call(*person), id, version, &command(), &nothing).await.map_err(failed)?;
        view = use_cases.approvals.get(viewer, id).await.map_err(failed)?;
    }
    Ok(())
}

async fn create(use_cases: &UseCases, story: &Story) -> Result<RequestView, AppError> {
    let content = Content {
        title: story.title.to_owned(),
        description: story.description.to_owned(),
        amount: story.money.map(|(amount, _)| amount),
        currency: story.money.map(|(_, currency)| currency.to_owned()),
    };
    // The answer's body carries the new id back.
    let id_only =
        |view: &RequestView| Answer { status: 200, location: None, body: view.request.id.0.as_bytes().to_vec() };
    let reply = use_cases.approvals.create(&call(story.applicant), &content, &id_only).await.map_err(failed)?;
    let id = RequestId(Uuid::from_slice(&reply.answer.body).map_err(failed)?);
    use_cases.approvals.get(call(story.applicant).viewer, id).await.map_err(failed)
}

const fn call(person: Person) -> Call {
    Call { viewer: Viewer { organization_id: ORGANIZATION, user_id: person.id }, key: None }
}

fn input(person: &Person) -> MemberInput {
    MemberInput {
        display_name: person.name.to_owned(),
        is_active: true,
        can_approve: person.can_approve,
        is_admin: person.is_admin,
    }
}

fn failed(error: impl std::fmt::Display) -> AppError {
    AppError::Other(format!("demo: {error}"))
}
