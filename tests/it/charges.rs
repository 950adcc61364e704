//! Charges: imported row by row, corrected as a whole, taken back once, and each in its own month.

use crate::harness::{Answer, App, Person};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

pub fn charge(id: Uuid, occurred_at: &str, amount: i64) -> Value {
    json!({"id": id, "occurred_at": occurred_at, "amount": amount, "currency": "JPY", "description": "taxi"})
}

/// A new charge with these members changed; null takes one away.
fn but(changes: Value) -> Value {
    let mut row = charge(Uuid::new_v4(), "2024-10-15T03:00:00Z", 1_200);
    for (name, value) in changes.as_object().unwrap() {
        row[name] = value.clone();
    }
    row
}

/// Sends NDJSON.
pub async fn lines(person: &Person, text: String) -> Answer {
    let request = person.request(Method::POST, "charges").header("content-type", "application/x-ndjson").body(text);
    Answer::of(request).await
}

pub fn as_lines(rows: &[Value], end: &str) -> String {
    rows.iter().map(Value::to_string).collect::<Vec<_>>().join(end) + end
}

/// What became of each row, and why not.
pub fn results(answer: &Answer) -> Vec<String> {
    let items = answer.body["items"].as_array().unwrap_or_else(|| panic!("{}", answer.text));
    items
        .iter()
        .map(|item| {
            let code = item["code"].as_str().map(|code| format!(" {code}")).unwrap_or_default();
            format!("{}{code}", item["result"].as_str().unwrap())
        })
        .collect()
}

pub fn correction(charge: &Value, changes: Value) -> Value {
    let mut body = json!({});
    for name in ["occurred_at", "amount", "currency", "description", "version"] {
        body[name] = charge[name].clone();
    }
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

/// Corrects a charge from how it stands.
pub async fn correct(admin: &Person, id: Uuid, changes: Value) -> Answer {
    let path = format!("charges/{id}");
    let now = admin.read(&path).await.expect_status(200).body;
    admin.put(&path, correction(&now, changes)).await
}

/// Every charge, by pages of two.
async fn walk(admin: &Person, filters: &str) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = admin.read(&format!("charges?limit=2{filters}{cursor}")).await.expect_status(200).body;
        all.extend(page["items"].as_array().unwrap().clone());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_charge_a_list_and_lines_are_the_same_import() {
    let app = App::start().await;
    let admin = &app.admin;
    let rows: Vec<Value> = (0..5_i64).map(|n| but(json!({"amount": n, "description": null}))).collect();
    let one = admin.post("charges", rows[0].clone()).await.expect_status(201);
    assert_eq!(
        one.body,
        json!({"items": [{"id": rows[0]["id"], "result": "created", "period": "2024-10", "late_of": null, "code": null}]})
    );
    let list = admin.post("charges", json!(rows[..3])).await.expect_status(201);
    assert_eq!(results(&list), ["exists", "created", "created"]);
    let text = as_lines(&rows, "\r\n\n");
    let streamed = lines(admin, text.clone()).await.expect_status(201);
    assert_eq!(results(&streamed), ["exists", "exists", "exists", "created", "created"]);
    assert_eq!(results(&lines(admin, text).await.expect_status(201)), ["exists"; 5]);

    let found = walk(admin, "&period=2024-10&processed=false").await;
    let mut ids: Vec<&Value> = rows.iter().map(|row| &row["id"]).collect();
    ids.sort_by_key(|id| std::cmp::Reverse(id.as_str().unwrap()));
    assert_eq!(found.iter().map(|charge| &charge["id"]).collect::<Vec<_>>(), ids);
    assert_eq!(walk(admin, "").await, found);
    assert!(walk(admin, "&period=2024-11").await.is_empty());
    assert!(walk(admin, "&processed=true").await.is_empty());
    let charge = admin.read(&format!("charges/{}", rows[0]["id"].as_str().unwrap())).await.expect_status(200).body;
    assert_eq!(
        charge,
        json!({"id": rows[0]["id"], "occurred_at": "2024-10-15T03:00:00.000000Z", "amount": 0, "currency": "JPY",
               "description": null, "reverses": null, "request_id": null, "period": "2024-10", "late_of": null,
               "processed": false, "version": 1})
    );
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_row_keeps_no_other_from_being_written() {
    let app = App::start().await;
    let admin = &app.admin;
    let known = but(json!({}));
    admin.post("charges", known.clone()).await.expect_status(201);
    let twice = but(json!({}));
    let with = |base: &Value, name: &str, value: Value| {
        let mut row = base.clone();
        row[name] = value;
        row
    };
    let tomorrow = (chrono::Utc::now() + chrono::Duration::hours(30)).to_rfc3339();
    let rows = [
        (but(json!({})), "created"),
        (but(json!({"amount": 9_007_199_254_740_991_i64})), "created"),
        (but(json!({"amount": 9_007_199_254_740_992_i64})), "refused amount_invalid"),
        (but(json!({"amount": 9_300_000_000_000_000_000_u64})), "refused amount_invalid"),
        (but(json!({"amount": -1})), "refused amount_invalid"),
        (but(json!({"amount": 1.0})), "refused amount_invalid"),
        (but(json!({"amount": "1"})), "refused amount_invalid"),
        (but(json!({"amount": null})), "refused amount_invalid"),
        (but(json!({"currency": "DEM"})), "refused currency_unknown"),
        (but(json!({"currency": "jpy"})), "refused currency_unknown"),
        (but(json!({"currency": "\u{0}"})), "refused currency_unknown"),
        (but(json!({"occurred_at": "2024-10-15"})), "refused date_invalid"),
        (but(json!({"occurred_at": "2024-02-30T00:00:00Z"})), "refused date_invalid"),
        (but(json!({"occurred_at": "1969-12-31T23:59:59Z"})), "refused date_invalid"),
        (but(json!({"occurred_at": tomorrow})), "refused date_invalid"),
        (but(json!({"description": "a\u{7}b"})), "refused description_invalid"),
        (but(json!({"description": "あ".repeat(1_001)})), "refused description_invalid"),
        (but(json!({"description": "あ".repeat(1_000)})), "created"),
        (but(json!({"id": "x"})), "refused id_invalid"),
        (but(json!({"id": null})), "refused id_invalid"),
        (json!(7), "refused id_invalid"),
        (json!(null), "refused id_invalid"),
        (json!([but(json!({}))]), "refused id_invalid"),
        (but(json!({"colour": "red"})), "refused unknown_field"),
        (but(json!({"reverses": "x"})), "refused reversal_invalid"),
        (but(json!({"reverses": known["id"], "amount": -1_200})), "refused reversal_invalid"),
        (known.clone(), "exists"),
        (with(&known, "amount", json!(1_201)), "refused charge_conflict"),
        (with(&known, "description", json!(null)), "refused charge_conflict"),
        (with(&known, "occurred_at", json!("2024-10-15T03:00:00.000001Z")), "refused charge_conflict"),
        (twice.clone(), "created"),
        (twice.clone(), "exists"),
        (with(&twice, "amount", json!(7)), "refused charge_conflict"),
        (twice.clone(), "exists"),
    ];
    let body: Vec<&Value> = rows.iter().map(|(row, _)| row).collect();
    let answer = admin.post("charges", json!(body)).await.expect_status(207);
    let expected: Vec<&str> = rows.iter().map(|(_, result)| *result).collect();
    for (n, (got, expected)) in results(&answer).iter().zip(&expected).enumerate() {
        assert_eq!(got, expected, "row {n}: {}", rows[n].0);
    }
    let created = expected.iter().filter(|result| **result == "created").count() + 1;
    assert_eq!(app.count("SELECT count(*) FROM charge").await, i64::try_from(created).unwrap());
    // A doubled key is a fault of its row, too: which of the two is meant?
    let id = Uuid::new_v4();
    let doubled = format!("{}\n{{\"id\": \"{id}\", \"id\": \"{id}\"}}", but(json!({})));
    let doubled = lines(admin, doubled).await.expect_status(207);
    assert_eq!(results(&doubled), ["created", "refused unknown_field"]);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_import_is_refused_whole() {
    let app = App::start().await;
    let admin = &app.admin;
    let good = but(json!({})).to_string();
    let middle = format!("{good}\n{{\"id\": broken\n{good}\n");
    let told = lines(admin, middle).await.expect_problem(400, "malformed_json");
    assert!(told.body["detail"].as_str().unwrap().contains("Line 2"), "{}", told.text);
    for body in ["", "\n \n", "x", "\"a\"", "7", "null", "[", "[1,]", "{\"a\":1e400}", "{\"a\": \"\\ud800\"}", "{} {}"]
    {
        let request = admin.request(Method::POST, "charges").header("content-type", "application/json");
        Answer::of(request.body(body)).await.expect_problem(400, "malformed_json");
    }
    let many: Vec<Value> = (0..1_001).map(|_| but(json!({}))).collect();
    let text = as_lines(&many, "\n");
    for answer in [admin.post("charges", json!(many)).await, lines(admin, text).await] {
        let told = answer.expect_problem(422, "validation_failed");
        assert_eq!(told.body["errors"][0]["pointer"], "/1000", "the first of too many");
    }
    admin.post("charges", json!([])).await.expect_problem(422, "validation_failed");
    lines(admin, String::new()).await.expect_problem(422, "validation_failed");
    let plain = admin.request(Method::POST, "charges").header("content-type", "text/csv").body(good.clone());
    Answer::of(plain).await.expect_problem(415, "unsupported_media_type");
    let (aiko, outsider) = (app.applicant().await, app.outsider());
    aiko.post("charges", but(json!({}))).await.expect_problem(403, "forbidden");
    aiko.read("charges").await.expect_problem(403, "forbidden");
    aiko.read(&format!("charges/{}", Uuid::nil())).await.expect_problem(403, "forbidden");
    outsider.post("charges", but(json!({}))).await.expect_problem(403, "not_a_member");
    for query in ["processed=yes", "period=2024-13", "period=2024-1", "x=1", "cursor=x"] {
        admin.read(&format!("charges?{query}")).await.expect_problem(400, "invalid_query");
    }
    admin.read(&format!("charges/{}", Uuid::nil())).await.expect_problem(404, "not_found");
    admin.read("charges/7").await.expect_problem(400, "invalid_path");
    assert_eq!(app.count("SELECT count(*) FROM charge").await, 0);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_of_a_thousand_is_replayed_by_its_key() {
    let app = App::start().await;
    let admin = &app.admin;
    let mut rows: Vec<Value> = (0..1_000).map(|_| but(json!({}))).collect();
    rows[500]["amount"] = json!(-5);
    let first = admin.post_with_key("import", "charges", json!(rows)).await.expect_status(207);
    let again = admin.post_with_key("import", "charges", json!(rows)).await.expect_status(207);
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.text, first.text);
    assert_eq!(app.count("SELECT count(*) FROM charge").await, 999);
    rows[0]["amount"] = json!(1);
    let other = admin.post_with_key("import", "charges", json!(rows)).await;
    other.expect_problem(422, "idempotency_key_reused");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_imports_of_the_same_charges_in_opposite_order_wait_and_write_each_once() {
    let app = App::start().await;
    let rows: Vec<Value> = (0..200).map(|_| but(json!({}))).collect();
    let mut backwards = rows.clone();
    backwards.reverse();
    let (one, two) = tokio::join!(app.admin.post("charges", json!(rows)), app.admin.post("charges", json!(backwards)));
    let (one, two) = (results(&one.expect_status(201)), results(&two.expect_status(201)));
    assert_eq!(one.iter().chain(&two).filter(|result| *result == "created").count(), 200);
    assert_eq!(app.count("SELECT count(*) FROM charge").await, 200);
    app.stop().await;
}

/// Month boundaries: the last and the first moment of a month, by the clocks of the organization.
#[tokio::test(flavor = "multi_thread")]
async fn a_charge_belongs_to_the_month_of_the_organizations_clocks() {
    let app = App::start().await;
    for (zone, moments) in [
        (
            "Asia/Tokyo",
            [
                ("2024-09-30T14:59:59.999999Z", "2024-09"),
                ("2024-09-30T14:59:59.999999999Z", "2024-09"),
                ("2024-09-30T15:00:00Z", "2024-10"),
                ("2024-10-01T00:00:00+09:00", "2024-10"),
            ],
        ),
        // Clocks go back on 2024-10-25 there, so October ends at another hour in UTC than it began.
        (
            "Europe/Berlin",
            [
                ("2024-09-30T21:59:59.999999Z", "2024-09"),
                ("2024-09-30T22:00:00Z", "2024-10"),
                ("2024-10-31T22:59:59.999999Z", "2024-10"),
                ("2024-10-31T23:00:00Z", "2024-11"),
            ],
        ),
        // Fourteen hours ahead. `UTC+14`, read by PostgreSQL, would be fourteen hours behind.
        (
            "Pacific/Kiritimati",
            [
                ("2024-09-30T09:59:59.999999Z", "2024-09"),
                ("2024-09-30T10:00:00Z", "2024-10"),
                ("2024-10-31T09:59:59.999999Z", "2024-10"),
                ("2024-10-31T10:00:00Z", "2024-11"),
            ],
        ),
        (
            "America/St_Johns",
            [
                ("2024-11-01T02:29:59.999999Z", "2024-10"),
                ("2024-11-01T02:30:00Z", "2024-11"),
                ("2024-03-01T03:29:59.999999Z", "2024-02"),
                ("2024-03-01T03:30:00Z", "2024-03"),
            ],
        ),
    ] {
        let organization = Uuid::new_v4();
        app.create_organization(organization, app.admin.id).await;
        app.execute(&format!("UPDATE organization SET time_zone = '{zone}' WHERE id = '{organization}'")).await;
        let admin = app.admin.in_organization(organization);
        let rows: Vec<Value> = moments.iter().map(|(at, _)| charge(Uuid::new_v4(), at, 1)).collect();
        let answer = admin.post("charges", json!(rows)).await.expect_status(201).body;
        for ((at, month), item) in moments.iter().zip(answer["items"].as_array().unwrap()) {
            assert_eq!(item["period"], *month, "{at} in {zone}");
        }
    }
    app.stop().await;
}

/// A moment within the years that there are, whose month by the organization's clocks is not: a fault of its row.
#[tokio::test(flavor = "multi_thread")]
async fn a_moment_without_a_month_in_the_time_zone_is_a_fault_of_its_row() {
    let app = App::start().await;
    for (zone, moment) in [("America/New_York", "1970-01-01T00:00:00Z"), ("Pacific/Kiritimati", "2199-12-31T23:00:00Z")]
    {
        let organization = Uuid::new_v4();
        app.create_organization(organization, app.admin.id).await;
        app.execute(&format!("UPDATE organization SET time_zone = '{zone}' WHERE id = '{organization}'")).await;
        let admin = app.admin.in_organization(organization);
        let id = Uuid::new_v4();
        let rows = [charge(id, "2024-10-15T03:00:00Z", 1), charge(Uuid::new_v4(), moment, 2)];
        let answer = admin.post("charges", json!(rows)).await.expect_status(207);
        assert_eq!(results(&answer), ["created", "refused date_invalid"], "{zone}");
        let told = correct(&admin, id, json!({"occurred_at": moment})).await.expect_problem(422, "validation_failed");
        assert_eq!(told.body["errors"][0]["pointer"], "/occurred_at", "{zone}");
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_charge_of_an_open_month_is_corrected_as_a_whole_by_who_saw_it() {
    let app = App::start().await;
    let admin = &app.admin;
    let id = Uuid::new_v4();
    admin.post("charges", charge(id, "2024-10-15T03:00:00Z", 1_200)).await.expect_status(201);
    let path = format!("charges/{id}");
    let first = admin.read(&path).await.expect_status(200).body;

    let second = correct(admin, id, json!({"amount": 1_300})).await.expect_status(200).body;
    assert_eq!((&second["amount"], &second["version"]), (&json!(1_300), &json!(2)));
    let stale = admin.put(&path, correction(&first, json!({"amount": 5}))).await.expect_problem(409, "charge_changed");
    assert_eq!(stale.body["current"], second);
    let same = admin.put(&path, correction(&second, json!({}))).await.expect_status(200).body;
    assert_eq!(same, second, "what says nothing new is no new version");

    for (change, pointer) in [
        (json!({"amount": -1}), "/amount"),
        (json!({"currency": "DEM"}), "/currency"),
        (json!({"occurred_at": "2199-01-01T00:00:00Z"}), "/occurred_at"),
        (json!({"occurred_at": "yesterday"}), "/occurred_at"),
        (json!({"description": "x".repeat(1_001)}), "/description"),
    ] {
        let told = admin.put(&path, correction(&second, change)).await.expect_problem(422, "validation_failed");
        assert_eq!(told.body["errors"][0]["pointer"], pointer);
    }
    let mut no_version = correction(&second, json!({}));
    no_version.as_object_mut().unwrap().remove("version");
    admin.put(&path, no_version).await.expect_problem(422, "version_required");
    let mut part = correction(&second, json!({}));
    part.as_object_mut().unwrap().remove("description");
    admin.put(&path, part).await.expect_problem(422, "validation_failed");
    let unknown = correction(&second, json!({"period": "2024-11"}));
    admin.put(&path, unknown).await.expect_problem(422, "unknown_field");
    let nobody = admin.put(&format!("charges/{}", Uuid::nil()), correction(&second, json!({}))).await;
    nobody.expect_problem(404, "not_found");
    let aiko = app.applicant().await;
    aiko.put(&path, correction(&second, json!({}))).await.expect_problem(403, "forbidden");

    // Into another open month, and back.
    let moved = correct(admin, id, json!({"occurred_at": "2024-09-30T14:59:59Z"})).await.expect_status(200).body;
    assert_eq!((&moved["period"], &moved["late_of"]), (&json!("2024-09"), &Value::Null));
    assert_eq!(admin.read(&path).await.body, moved);

    let rows = admin.read("history?kind=closing&action=correct").await.expect_status(200).body;
    let rows = rows["items"].as_array().unwrap().clone();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["subject_id"], json!(id));
    assert_eq!(
        (&rows[0]["detail"]["before"]["amount"], &rows[0]["detail"]["after"]["amount"]),
        (&json!(1_200), &json!(1_300))
    );
    assert_eq!(rows[1]["detail"]["after"]["period"], "2024-09");
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_corrections_at_once_are_one_correction_and_one_refusal() {
    let app = App::start().await;
    let id = Uuid::new_v4();
    app.admin.post("charges", charge(id, "2024-10-15T03:00:00Z", 1_200)).await.expect_status(201);
    let path = format!("charges/{id}");
    let seen = app.admin.read(&path).await.body;
    let held = app.hold(&format!("SELECT FROM charge WHERE id = '{id}' FOR UPDATE")).await;
    let send = |amount: i64| {
        let (admin, path) = (app.admin.clone(), path.clone());
        let body = correction(&seen, json!({"amount": amount}));
        tokio::spawn(async move { admin.put(&path, body).await })
    };
    let (one, two) = (send(1), send(2));
    app.until_waiting(2).await;
    held.release().await;
    let answers = [one.await.unwrap(), two.await.unwrap()];
    let won: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(won.len(), 1);
    let lost = answers.iter().find(|answer| answer.status != 200).unwrap();
    assert_eq!((lost.status.as_u16(), lost.body["code"].as_str().unwrap()), (409, "charge_changed"));
    assert_eq!(lost.body["current"], won[0].body);
    app.check_invariants().await;
    app.stop().await;
}
