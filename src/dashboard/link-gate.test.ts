import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../base/manual-clock.ts";
import { seededRandom } from "../base/random.ts";
import type { Guest } from "./gate.ts";
import { LinkGate } from "./link-gate.ts";

const HOUR_MS = 3_600_000;
const guest = { name: "me" } as Guest;

test("a link opens once, and there is another one then", async () => {
  const links: string[] = [];
  const gate = new LinkGate({
    clock: new ManualClock(),
    random: seededRandom(1),
    guest,
    onUsed: (link) => links.push(link),
  });
  const { link } = gate;
  const { token } = gate.exchange(link);
  assert.notEqual(token, link);
  assert.equal((await gate.admit(token)).name, "me");
  assert.throws(() => gate.exchange(link), { code: "NotAdmitted" });
  assert.deepEqual(links, [gate.link]);
  await assert.rejects(gate.admit(gate.link), { code: "NotAdmitted" }, "a link is no token");
  await assert.rejects(gate.admit(""), { code: "NotAdmitted" });
});

test("a session that nobody uses is over after twelve hours, one that is used is not", async () => {
  const clock = new ManualClock();
  const gate = new LinkGate({ clock, random: seededRandom(1), guest });
  const [idle, used] = [gate.exchange(gate.link).token, gate.exchange(gate.link).token];
  await clock.advance(11 * HOUR_MS);
  await gate.admit(used);
  await clock.advance(2 * HOUR_MS);
  await gate.admit(used);
  await assert.rejects(gate.admit(idle), { code: "NotAdmitted" });
});
