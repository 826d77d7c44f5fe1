import { parseArgs } from "node:util";
import { systemClock } from "../src/base/clock.ts";
import { systemRandom } from "../src/base/random.ts";
import { createServingCertificate } from "../src/embedded/http/serving-certificate.ts";
import { EmbeddedTortureServer } from "../test/watch-torture/embedded-torture-server.ts";
import { tortureListWatch } from "../test/watch-torture/list-watch-torture.ts";
import { runSocketSchedules } from "../test/watch-torture/socket-torture.ts";
import { writeEvidence } from "./evidence.ts";

/** `npm run prove:watch [-- --schedules N --sockets N --seed N]`: the torture of `npm test` with seeds nobody has seen. */
const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "100000" },
    sockets: { type: "string", default: "1000" },
    seed: { type: "string", default: String(Date.now() % 1e9) },
  },
});
const seed = Number(values.seed);
const inMemory = await tortureListWatch({
  server: (options) => new EmbeddedTortureServer(options),
  seed,
  schedules: Number(values.schedules),
  onProgress: (done) => {
    if (done % 10_000 === 0) console.log(`${done} schedules in memory`);
  },
});
const overSockets = await runSocketSchedules({
  seed,
  schedules: Number(values.sockets),
  atOnce: 8,
  certificate: createServingCertificate({ clock: systemClock, random: systemRandom }),
  onProgress: (done) => {
    if (done % 100 === 0) console.log(`${done} schedules over sockets`);
  },
});
const report = { seed, inMemory, overSockets };
console.log(JSON.stringify(report, null, 2));
writeEvidence("watch", report);
