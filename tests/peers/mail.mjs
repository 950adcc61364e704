// A mail server for the tests: takes mails, takes them apart with a parser of its own, and writes each as a line of JSON.
// How it behaves is said on standard input, one line of JSON for each change; it ends with it.
//
//   node mail.mjs PORT [CERTIFICATE KEY]      PORT 0: any that is free; with a certificate it offers STARTTLS and wants a password
//
//   {"mood": "take"}                          takes everything
//   {"mood": "silent"}                        accepts connections and never says a word
//   {"mood": "refuse", "at": "mail"|"rcpt"|"data", "code": 550, "to": "a@b.example"}   `to`: nobody else is refused
//   {"mood": "hold"}                          takes the whole mail, and answers only when the mood changes
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { simpleParser } from "mailparser";
import { SMTPServer } from "smtp-server";

const [port, certificate, key] = process.argv.slice(2);
const tell = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

let mood = { mood: "take" };
const held = new Set();

function refusal(at, to) {
  if (mood.mood !== "refuse" || mood.at !== at || (mood.to && !to.includes(mood.to))) return null;
  return Object.assign(new Error("Refused by the test"), { responseCode: mood.code });
}

const receivers = (session) => session.envelope.rcptTo.map((one) => one.address);

async function take(stream, session, answer) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  const raw = Buffer.concat(chunks);
  const mail = await simpleParser(raw, { keepCidLinks: true });
  const of = (address) => address?.value.map((one) => ({ name: one.name, address: one.address })) ?? [];
  const seen = {
    saw: "mail",
    envelope: { from: session.envelope.mailFrom.address, to: receivers(session) },
    encrypted: session.secure,
    user: session.user ?? null,
    from: of(mail.from),
    to: of(mail.to),
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    message_id: mail.messageId,
    heads: mail.headerLines.map((head) => head.key),
    lines: Object.fromEntries(mail.headerLines.map((head) => [head.key, head.line])),
    attachments: mail.attachments.length,
  };
  const refused = refusal("data", receivers(session));
  if (refused) {
    tell({ saw: "refusal" });
    return answer(refused);
  }
  // Told before it is answered: what is told then may yet be sent again.
  tell({ ...seen, held: mood.mood === "hold" });
  if (mood.mood === "hold") return void held.add(answer);
  answer();
}

const server = new SMTPServer({
  name: "mail.test",
  disabledCommands: certificate ? [] : ["AUTH", "STARTTLS"],
  authOptional: !certificate,
  disableReverseLookup: true,
  closeTimeout: 100,
  ...(certificate ? { cert: readFileSync(certificate), key: readFileSync(key) } : {}),
  onConnect(_session, answer) {
    tell({ saw: "connection" });
    if (mood.mood !== "silent") answer();
  },
  onAuth({ username, password }, _session, answer) {
    if (password === "let me in") answer(null, { user: username });
    else answer(new Error("No"));
  },
  onMailFrom(_address, _session, answer) {
    const refused = refusal("mail", []);
    if (refused) tell({ saw: "refusal" });
    answer(refused);
  },
  onRcptTo({ address }, _session, answer) {
    const refused = refusal("rcpt", [address]);
    if (refused) tell({ saw: "refusal", to: address });
    answer(refused);
  },
  onData: (stream, session, answer) => void take(stream, session, answer),
});
server.on("error", (error) => tell({ saw: "error", error: String(error) }));
server.listen(Number(port), "127.0.0.1", () => tell({ saw: "start", port: server.server.address().port }));

const input = createInterface({ input: process.stdin });
input.on("line", (line) => {
  mood = JSON.parse(line);
  for (const answer of held) answer();
  held.clear();
  tell({ saw: "mood" });
});
input.on("close", () => process.exit(0));
