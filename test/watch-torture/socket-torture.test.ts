import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createServingCertificate } from "../../src/embedded/http/serving-certificate.ts";
import { runSocketSchedules } from "./socket-torture.ts";

const SCHEDULES = 200;

test(`${SCHEDULES} seeded schedules over real sockets and TLS: the cache equals the server after each`, async () => {
  const certificate = createServingCertificate({ clock: systemClock, random: systemRandom });
  const report = await runSocketSchedules({ seed: 1000, schedules: SCHEDULES, atOnce: 8, certificate });
  assert.equal(report.schedules, SCHEDULES);
  assert.ok(report.faults > SCHEDULES, `only ${report.faults} connections went wrong: this was no torture`);
  assert.ok(report.refreshes > SCHEDULES, "hardly anything was ever listed anew");
});
