//! Two months with charges are closed while everything is killed: each charge is in one month, and a statement shows a
//! month whole or not at all.

use super::audit::Broken;
use super::people::World;
use super::random::Random;
use super::record::{Entries, Told, Who};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::PgConnection;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use uuid::Uuid;

pub(super) const WHOLE: &str = "a statement shows a month whole or not at all";
pub(super) const ONE_MONTH: &str = "each charge is in the one month that was answered";
pub(super) const CLOSED: &str = "a closed month has each of its charges once, and nothing else";

const MONTHS: [&str; 2] = ["2024-10", "2024-11"];
/// How many charges each has before anything begins, of 1, 2, 3, ... yen.
const CHARGES: i64 = 400;
const PATIENCE: Duration = Duration::from_mins(1);

/// A month in a statement.
#[derive(Clone, Debug)]
pub(super) struct MonthLook {
    pub(super) began: Instant,
    pub(super) ended: Instant,
    pub(super) period: String,
    pub(super) is_closed: bool,
    pub(super) total: i64,
}

/// A charge, and the month that it was told to be in.
#[derive(Clone, Debug)]
pub(super) struct Charged {
    pub(super) id: Uuid,
    pub(super) period: String,
}

async fn insist(world: &World, who: &Who, method: Method, path: &str, body: &Value) -> Told {
    let (since, key) = (Instant::now(), Uuid::new_v4().to_string());
    loop {
        let write = (method != Method::GET).then_some((&*key, body));
        if let Some(told) = world.ask(who, method.clone(), path, write).await.filter(Told::is_definite) {
            return told;
        }
        assert!(since.elapsed() < PATIENCE, "no definite answer to {path}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn charge(world: &World, who: &Who, rows: &[Value]) {
    let told = insist(world, who, Method::POST, "charges", &json!(rows)).await;
    assert!(told.is_success(), "{}", told.text);
    for item in told.body["items"].as_array().unwrap() {
        let period = item["period"].as_str().unwrap_or_else(|| panic!("refused: {item}")).to_owned();
        let charged = Charged { id: item["id"].as_str().unwrap().parse().unwrap(), period };
        world.record.with(|record| record.charges.push(charged));
    }
}

fn row(month: &str, amount: i64) -> Value {
    json!({"id": Uuid::new_v4(), "occurred_at": format!("{month}-15T03:00:00Z"), "amount": amount, "currency": "JPY",
           "description": "taxi"})
}

/// What is there before anything is killed.
pub(super) async fn import(world: &World, admin: &Who) {
    for month in MONTHS {
        let rows: Vec<_> = (1..=CHARGES).map(|amount| row(month, amount)).collect();
        charge(world, admin, &rows).await;
    }
}

/// Looks at the statements, writes charges that come late, and closes the months.
pub(super) async fn account(world: &World, admin: &Who, mut random: Random) {
    while !world.over.load(Ordering::Relaxed) {
        look(world, admin).await;
        if random.percent(20) {
            charge(world, admin, &[row(MONTHS[random.below(2)], 1_000_000)]).await;
        }
        if random.percent(4) {
            let path = format!("closings/{}", MONTHS[random.below(2)]);
            drop(world.ask(admin, Method::POST, &path, Some((&Uuid::new_v4().to_string(), &json!({})))).await);
        }
        tokio::time::sleep(Duration::from_millis(random.next() % 60)).await;
    }
}

/// Closes what is not closed yet, when nothing is killed any more.
pub(super) async fn finish(world: &World, admin: &Who) {
    for month in MONTHS {
        let (since, path) = (Instant::now(), format!("closings/{month}"));
        while insist(world, admin, Method::GET, &path, &Value::Null).await.body["state"] != "closed" {
            drop(insist(world, admin, Method::POST, &path, &json!({})).await);
            assert!(since.elapsed() < PATIENCE, "{month} does not close");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        charge(world, admin, &[row(month, 7)]).await;
    }
    look(world, admin).await;
}

async fn look(world: &World, admin: &Who) {
    let began = Instant::now();
    let told = world.ask(admin, Method::GET, "statements", None).await.filter(Told::is_success);
    let Some(told) = told else { return };
    for (list, is_closed) in [("upcoming", false), ("months", true)] {
        for month in told.body[list].as_array().unwrap() {
            let period = month["period"].as_str().unwrap().to_owned();
            let totals = month["totals"].as_array().unwrap().iter();
            let total = totals.map(|total| total["total"].as_str().unwrap().parse::<i64>().unwrap()).sum();
            let look = MonthLook { began, ended: Instant::now(), period, is_closed, total };
            if MONTHS.contains(&&*look.period) {
                world.record.with(|record| record.months.push(look));
            }
        }
    }
}

pub(super) async fn check(entries: &Entries, db: &mut PgConnection) -> Vec<Broken> {
    let mut broken = Vec::new();
    let rows: Vec<(Uuid, String)> =
        sqlx::query_as("SELECT id, to_char(period, 'YYYY-MM') FROM charge WHERE request_id IS NULL")
            .fetch_all(&mut *db)
            .await
            .unwrap();
    let mut periods: HashMap<Uuid, Vec<String>> = HashMap::new();
    for (id, period) in rows {
        periods.entry(id).or_default().push(period);
    }
    for charged in &entries.charges {
        let found = periods.remove(&charged.id).unwrap_or_default();
        if found != [charged.period.clone()] {
            broken.push(Broken::new(ONE_MONTH, format!("{charged:?} is in {found:?}")));
        }
    }
    for (id, periods) in periods {
        broken.push(Broken::new(ONE_MONTH, format!("{id} in {periods:?} was never answered for")));
    }
    let amiss: Vec<(String, i64)> = sqlx::query_as(
        "SELECT to_char(coalesce(p.period, f.period), 'YYYY-MM'), count(*)
         FROM billing_period p
         JOIN (SELECT c.organization_id, c.period, c.id, c.amount FROM charge c) c USING (organization_id, period)
         FULL JOIN confirmed_charge f ON (f.organization_id, f.charge_id, f.period, f.amount)
                                       = (c.organization_id, c.id, c.period, c.amount)
         WHERE (p.status = 'closed' OR p.status IS NULL) AND (f.charge_id IS NULL OR c.id IS NULL)
         GROUP BY 1",
    )
    .fetch_all(&mut *db)
    .await
    .unwrap();
    for (period, rows) in amiss {
        broken.push(Broken::new(CLOSED, format!("{rows} rows of {period} have no counterpart")));
    }
    let totals: Vec<(String, i64)> = sqlx::query_as(
        "SELECT to_char(period, 'YYYY-MM'), sum(amount)::bigint FROM charge WHERE currency = 'JPY' GROUP BY 1",
    )
    .fetch_all(&mut *db)
    .await
    .unwrap();
    let totals: HashMap<String, i64> = totals.into_iter().collect();
    // What was there before anything began is always there, and a closed month is what it is at the end.
    let least = CHARGES * (CHARGES + 1) / 2;
    for look in &entries.months {
        let last = totals.get(&look.period).copied().unwrap_or_default();
        let is_whole = if look.is_closed { look.total == last } else { (least..=last).contains(&look.total) };
        let reopened = !look.is_closed
            && entries
                .months
                .iter()
                .any(|other| other.is_closed && other.period == look.period && other.ended < look.began);
        if !is_whole || reopened {
            broken.push(Broken::new(WHOLE, format!("{look:?} of {least} to {last}, reopened: {reopened}")));
        }
    }
    broken
}

/// That a month was seen before and after it closed.
pub(super) fn was_watched(entries: &Entries) -> bool {
    [false, true].iter().all(|closed| entries.months.iter().any(|look| look.is_closed == *closed))
}
