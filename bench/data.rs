//! The data: organizations, people and requests, written by COPY with values from the product's own rules, so that
//! every hash, chain and event is what the product would have written. Ids are small numbers written as UUIDs, so that
//! pgbench can compute them.

use crate::cluster::Cluster;
use ringi::app::UseCases;
use ringi::config::Settings;
use ringi::domain::content::Content;
use ringi::domain::event::Event;
use ringi::domain::history::HASH_FORMAT;
use ringi::domain::ids::{OrganizationId, RequestId, UserId};
use ringi::domain::member::{Member, MemberInput};
use ringi::domain::request::{self, Change, Command};
use ringi::domain::{Instant, rfc3339};
use ringi::pg::{NewOrganization, PgStore, PoolSettings, create_organization};
use ringi::transaction::idempotency::Answer;
use ringi::transaction::{Call, Viewer};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection};
use std::fmt::Write;
use uuid::Uuid;

pub const ORGANIZATION: u64 = 0xA0_0000_0000;
pub const APPROVER: u64 = 0xB0_0000_0000;
const APPLICANT: u64 = 0xC0_0000_0000;
pub const ADMIN: u64 = 0xD0_0000_0000;
/// A member who applies for little: the first three requests of his organization are his, and he sees no others.
const PLAIN: u64 = 0xE0_0000_0000;
pub const REQUEST: u64 = 0x10_0000_0000;
const APPLICANTS: u64 = 5;

/// So many requests are written at a time.
const CHUNK: u64 = 2_000;

pub fn id(base: u64, n: u64) -> Uuid {
    Uuid::from_u128(u128::from(base + n))
}

pub fn approver(organization: u64) -> UserId {
    UserId(id(APPROVER, organization))
}

pub fn plain_member(organization: u64) -> UserId {
    UserId(id(PLAIN, organization))
}

/// How much of what.
#[derive(Clone, Copy)]
pub struct Shape {
    pub organizations: u64,
    pub requests: u64,
    /// All pending with a short description; else mostly decided, with one of about 500 characters.
    pub all_pending: bool,
}

impl Shape {
    /// The organization of request `k`: in turn.
    pub const fn organization_of(self, k: u64) -> u64 {
        k % self.organizations
    }

    /// Some organizations have three undecided requests, others many, all scattered.
    const fn is_pending(self, k: u64) -> bool {
        let (organization, nth) = (k % self.organizations, k / self.organizations);
        let each = self.requests / self.organizations;
        self.all_pending
            || if organization.is_multiple_of(4) { nth % (each / 3 + 1) == each / 6 } else { nth % 37 == 5 }
    }
}

fn member(organization: u64, user: UserId, name: &str, can_approve: bool) -> Member {
    Member {
        organization_id: OrganizationId(id(ORGANIZATION, organization)),
        user_id: user,
        display_name: name.to_owned(),
        is_active: true,
        can_approve,
        is_admin: false,
        version: 1,
        created_at: moment(0),
    }
}

fn applicant(organization: u64, n: u64) -> Member {
    let user = UserId(id(APPLICANT, organization * APPLICANTS + n));
    member(organization, user, &format!("Applicant {n} 申請者"), false)
}

fn input(member: &Member, is_admin: bool) -> MemberInput {
    MemberInput {
        display_name: member.display_name.clone(),
        is_active: true,
        can_approve: member.can_approve,
        is_admin,
    }
}

fn moment(k: u64) -> Instant {
    Instant::UNIX_EPOCH
        + chrono::Duration::microseconds(1_735_689_600_000_000 + i64::try_from(k).unwrap_or(0) * 1_000_003)
}

/// Organizations and people, by the use cases themselves.
async fn people(options: &PgConnectOptions, shape: Shape) -> Result<(), String> {
    let settings = Settings::defaults();
    let pools = ringi::pg::connect(options, &PoolSettings::from(&settings.database), None)
        .await
        .map_err(|error| error.to_string())?;
    let use_cases = UseCases::new(&pools, &settings.database);
    let store = PgStore::new(pools.write.clone(), settings.database.acquire_timeout);
    let nothing = |_: &Member| Answer { status: 200, location: None, body: Vec::new() };
    for organization in 0..shape.organizations {
        let admin = member(organization, UserId(id(ADMIN, organization)), "Admin 管理者", false);
        let new = NewOrganization {
            id: admin.organization_id,
            name: format!("Organization {organization}"),
            time_zone: "Asia/Tokyo".to_owned(),
            admin_id: admin.user_id,
            admin: input(&admin, true),
        };
        create_organization(&store, &new).await.map_err(|error| error.to_string())?;
        let call =
            Call { viewer: Viewer { organization_id: admin.organization_id, user_id: admin.user_id }, key: None };
        let mut others: Vec<_> = (0..APPLICANTS).map(|n| applicant(organization, n)).collect();
        others.push(member(organization, approver(organization), APPROVER_NAME, true));
        others.push(member(organization, plain_member(organization), "Plain 一般", false));
        for other in others {
            let added = use_cases.members.add(&call, other.user_id, &input(&other, false), &nothing).await;
            added.map_err(|error| error.to_string())?;
        }
    }
    pools.close();
    Ok(())
}

const APPROVER_NAME: &str = "Approver 承認者";

/// Makes the data of this shape, unless it is there.
pub async fn make(cluster: &Cluster, name: &str, shape: Shape) -> Result<(), String> {
    let Some(options) = cluster.begin(name).await? else { return Ok(()) };
    let start = std::time::Instant::now();
    people(&options, shape).await?;
    let mut connection = options.connect().await.map_err(|error| error.to_string())?;
    // The rows are right by construction: foreign keys and triggers would only check them one by one.
    run(&mut connection, "SET session_replication_role = replica; SET synchronous_commit = off").await?;
    // Row by row this index takes four times as long as at once.
    let grams: String = sqlx::query_scalar("SELECT pg_get_indexdef('approval_version_grams'::regclass)")
        .fetch_one(&mut connection)
        .await
        .map_err(|error| error.to_string())?;
    run(&mut connection, "DROP INDEX approval_version_grams").await?;
    let mut k = 0;
    while k < shape.requests {
        let end = (k + CHUNK).min(shape.requests);
        let mut chunk = Chunk::default();
        for k in k..end {
            chunk.add(shape, k)?;
        }
        chunk.write(&mut connection).await.map_err(|error| format!("COPY: {error}"))?;
        k = end;
    }
    // What the triggers would have written.
    let opened = "INSERT INTO open_request (organization_id, request_id)
                  SELECT organization_id, id FROM approval_request WHERE status NOT IN ('approved', 'rejected', 'withdrawn')";
    for sql in [opened, "SET maintenance_work_mem = '1GB'", &grams, RELAYED] {
        run(&mut connection, sql).await?;
    }
    drop(connection);
    cluster.finish(name).await?;
    println!("  made {} requests in {} organizations in {:.0?}", shape.requests, shape.organizations, start.elapsed());
    Ok(())
}

/// Everybody has been told of it long ago: the relay has nothing to do when a measurement begins.
const RELAYED: &str = "
INSERT INTO event_log (organization_id, position, subject_kind, subject_id, seq, event_type, payload, occurred_at, private)
SELECT organization_id, row_number() OVER (PARTITION BY organization_id ORDER BY occurred_at, subject_kind, subject_id, seq),
       subject_kind, subject_id, seq, event_type, payload, occurred_at,
       subject_kind = 'request' AND payload ->> 'status' = 'draft'
FROM outbox_event;
INSERT INTO event_stream (organization_id, last_position, updated_at)
SELECT organization_id, max(position), now() FROM event_log GROUP BY organization_id;
TRUNCATE outbox_event;";

async fn run(connection: &mut PgConnection, sql: &str) -> Result<(), String> {
    let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(connection).await;
    done.map(drop).map_err(|error| format!("{sql}: {error}"))
}

/// Rows as COPY's text.
#[derive(Default)]
struct Chunk {
    requests: String,
    versions: String,
    history: String,
    events: String,
}

impl Chunk {
    fn add(&mut self, shape: Shape, k: u64) -> Result<(), String> {
        let organization = shape.organization_of(k);
        let nth = k / shape.organizations;
        let who = if !shape.all_pending && nth < 3 {
            member(organization, plain_member(organization), "Plain 一般", false)
        } else {
            applicant(organization, nth % APPLICANTS)
        };
        let refused = |refusal: request::Refusal| format!("request {k}: {refusal:?}");
        let created =
            request::create(&who, RequestId(id(REQUEST, k)), content(shape, k), moment(k)).map_err(refused)?;
        self.step(&created);
        let mut last = created.after;
        let mut act = |member: &Member, command: Command, later: u64| {
            let at = moment(k) + chrono::Duration::seconds(i64::try_from(later).unwrap_or(0));
            let change = request::decide(member, false, &last, last.version, &command, at).map_err(refused)?;
            if let Some(change) = change {
                self.step(&change);
                last = change.after;
            }
            Ok::<_, String>(())
        };
        act(&who, Command::Submit, 60)?;
        if !shape.is_pending(k) {
            let judge = member(organization, approver(organization), APPROVER_NAME, true);
            let command = if k.is_multiple_of(9) {
                Command::Reject(Some("予算を超えています。".to_owned()))
            } else {
                Command::Approve(None)
            };
            act(&judge, command, 86_400)?;
        }
        let content = &last.content;
        row(
            &mut self.requests,
            &[
                text(last.organization_id),
                text(last.id),
                text(last.applicant_id),
                escaped(&content.title),
                escaped(&content.description),
                optional(content.amount),
                optional(content.currency.as_deref()),
                text(last.status.as_str()),
                text(last.version),
                text(last.content_version),
                bytes(&last.content_hash.0),
                optional(last.decision_reason.as_deref()),
                rfc3339(last.created_at),
                rfc3339(last.updated_at),
                optional(last.submitted_at.map(rfc3339)),
                optional(last.decided_at.map(rfc3339)),
                text(last.last.action.as_str()),
                text(last.last.actor_id),
                escaped(&last.last.actor_name),
                bytes(&last.chain_hash.0),
            ],
        );
        Ok(())
    }

    /// The rows that one change adds.
    fn step(&mut self, change: &Change) {
        let (after, entry) = (&change.after, &change.entry);
        if change.writes_content() {
            row(
                &mut self.versions,
                &[
                    text(after.organization_id),
                    text(after.id),
                    text(after.version),
                    escaped(&after.content.title),
                    escaped(&after.content.description),
                    optional(after.content.amount),
                    optional(after.content.currency.as_deref()),
                    bytes(&after.content_hash.0),
                ],
            );
        }
        row(
            &mut self.history,
            &[
                text(entry.organization_id),
                text(entry.request_id),
                text(entry.version),
                text(entry.actor_id),
                escaped(&entry.actor_name),
                text(entry.action.as_str()),
                optional(entry.from_status.map(request::Status::as_str)),
                text(entry.to_status.as_str()),
                optional(entry.reason.as_deref()),
                bytes(&entry.content_hash.0),
                rfc3339(entry.occurred_at),
                text(HASH_FORMAT),
                bytes(&after.chain_hash.0),
            ],
        );
        let event = Event::of_request(entry);
        row(
            &mut self.events,
            &[
                text(entry.organization_id),
                text(event.subject_kind),
                event.subject_id.clone(),
                text(event.seq),
                event.event_type.clone(),
                escaped(&event.payload.to_string()),
                rfc3339(entry.occurred_at),
            ],
        );
    }

    async fn write(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        for (into, rows) in [
            (
                "approval_request (organization_id, id, applicant_id, title, description, amount, currency, status, version,
                 content_version, content_hash, decision_reason, created_at, updated_at, submitted_at, decided_at,
                 last_action, last_actor_id, last_actor_name, chain_hash)",
                &self.requests,
            ),
            (
                "approval_version (organization_id, request_id, version, title, description, amount, currency,
                 content_hash)",
                &self.versions,
            ),
            (
                "approval_history (organization_id, request_id, version, actor_id, actor_name, action, from_status,
                 to_status, reason, content_hash, occurred_at, hash_format, entry_hash)",
                &self.history,
            ),
            (
                "outbox_event (organization_id, subject_kind, subject_id, seq, event_type, payload, occurred_at)",
                &self.events,
            ),
        ] {
            let mut copy = connection.copy_in_raw(&format!("COPY {into} FROM STDIN")).await?;
            copy.send(rows.as_bytes()).await?;
            copy.finish().await?;
        }
        Ok(())
    }
}

fn row(to: &mut String, columns: &[String]) {
    to.push_str(&columns.join("\t"));
    to.push('\n');
}

fn text(value: impl std::fmt::Display) -> String {
    value.to_string()
}

fn optional(value: Option<impl std::fmt::Display>) -> String {
    value.map_or_else(|| "\\N".to_owned(), |value| escaped(&value.to_string()))
}

fn bytes(value: &[u8]) -> String {
    value.iter().fold("\\\\x".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t")
}

/// What the searches look for: the first three in every few requests, the rest in one of two thousand.
pub const COMMON: [&str; 3] = ["張", "出張", "新幹線"];
pub const RARE: [&str; 4] = ["鱗", "雫月", "稀少本", "xylograph"];

const WORDS: [&str; 32] = [
    "expenses",
    "for",
    "the",
    "conference",
    "in",
    "Osaka",
    "with",
    "two",
    "colleagues",
    "from",
    "sales",
    "quotation",
    "attached",
    "projector",
    "rental",
    "budget",
    "出張",
    "の",
    "交通費",
    "と",
    "宿泊費",
    "を",
    "申請します。",
    "新幹線",
    "往復",
    "展示会",
    "備品",
    "購入",
    "見積書",
    "のとおり",
    "ご確認ください。",
    "年間契約",
];

fn content(shape: Shape, k: u64) -> Content {
    let mut state = k.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D;
    let mut next = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let length = if shape.all_pending { 80 } else { 400 + usize::try_from(next(200)).unwrap_or(0) };
    let mut description = String::with_capacity(2 * length);
    let mut characters = 0;
    while characters < length {
        let word = usize::try_from(next(32)).ok().and_then(|n| WORDS.get(n)).copied().unwrap_or("稟議");
        description.push_str(word);
        description.push(if next(12) == 0 { '\n' } else { ' ' });
        characters += word.chars().count() + 1;
    }
    if !shape.all_pending && next(2_000) == 0 {
        description.push_str(&RARE.join(" "));
    }
    Content {
        title: format!("稟議 {k}: trade fair in Osaka 出張"),
        description,
        amount: Some(i64::try_from(1_000 + next(1_000_000)).unwrap_or(0)),
        currency: Some("JPY".to_owned()),
    }
}
