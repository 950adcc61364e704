//! Round trips are part of the price of a decision: counted on the wire, from the outside.

use crate::harness::{App, Database, id_of, settings};
use crate::trips::Wire;
use serde_json::json;
use std::time::Duration;

/// What an approval may cost, without and with an idempotency key.
///
/// BEGIN, both locks, the write, COMMIT. With a key its row stands between the two locks: three trips in place of one.
const WITHOUT_KEY: u64 = 4;
const WITH_KEY: u64 = 6;

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_makes_few_round_trips() {
    let database = Database::new().await;
    let wire = Wire::start(&Database::socket_dir()).unwrap();
    let mut settings = settings();
    // One connection, so that its statements are prepared after the first call.
    settings.database.max_connections = 1;
    settings.database.read_connections = 1;
    let options = database.options().socket(wire.dir());
    let app = App::reaching(settings, database, &options).await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);

    for (keyed, most) in [(false, WITHOUT_KEY), (true, WITH_KEY)] {
        // The fewest of some: the first call prepares the statements, and a stall of the machine may split an answer.
        let mut least = u64::MAX;
        for n in 0..5 {
            let pending = applicant.submitted("Trips").await;
            settled(&wire).await;
            let before = wire.trips();
            if keyed {
                let path = format!("requests/{}/approve", id_of(&pending));
                approver.post_with_key(&format!("key-{n}"), &path, json!({"version": 2})).await.expect_status(200);
            } else {
                approver.approve(&pending).await.expect_status(200);
            }
            settled(&wire).await;
            least = least.min(wire.since(&before));
        }
        println!("round trips of an approval, with a key: {keyed}: {least}");
        assert!(least <= most, "an approval costs {least} round trips (with a key: {keyed}), more than {most}");
    }
    app.stop().await;
}

/// Returns when nothing has moved on the wire for a moment.
async fn settled(wire: &Wire) {
    loop {
        let before = wire.trips();
        tokio::time::sleep(Duration::from_millis(30)).await;
        if wire.trips() == before {
            return;
        }
    }
}
