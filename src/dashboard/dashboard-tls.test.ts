import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "node:tls";
import { systemClock } from "../base/clock.ts";
import { ManualClock } from "../base/manual-clock.ts";
import { systemRandom } from "../base/random.ts";
import { type LogLine, recordingLogger } from "../base/recording-logger.fixture.ts";
import { Redacted } from "../base/redacted.ts";
import { createServingCertificate } from "../embedded/http/serving-certificate.ts";
import { startDashboardServer, type TlsPair } from "./dashboard-server.ts";
import type { Gate } from "./gate.ts";
import { ReadModel } from "./read-model.ts";
import { LOOPBACK_NAMES } from "./request-guard.ts";

function pair(): TlsPair {
  const { chainPem, privateKeyPem } = createServingCertificate({ clock: systemClock, random: systemRandom });
  return { certificate: chainPem, key: new Redacted(privateKeyPem) };
}

/** Of the certificate that a new connection is shown. */
const fingerprintAt = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on("error", reject);
  });

test("a certificate that was renewed is used for new connections, and one that cannot be read is told of", async (t) => {
  const clock = new ManualClock();
  const lines: LogLine[] = [];
  const logger = recordingLogger(lines);
  const model = new ReadModel({ clock, logger });
  const pairs = [pair(), pair()];
  const files: { pair: TlsPair | undefined } = { pair: pairs[0] };
  const read = async (): Promise<TlsPair> => files.pair ?? Promise.reject(new Error("no such file"));
  const server = await startDashboardServer({
    bind: { host: "127.0.0.1", port: 0 },
    hostNames: LOOPBACK_NAMES,
    isPortOurs: true,
    packsStreams: true,
    tls: { read },
    gate: { by: "cluster-token", admit: () => Promise.reject(new Error("nobody")) } satisfies Gate,
    page: new Map(),
    source: {
      clock,
      logger,
      model,
      operator: () => ({ seenFrom: "operator", version: "0", watches: [] }),
      mayChange: false,
      audit: { paths: [], namespace: "" },
    },
  });
  t.after(() => server.close());
  assert.match(server.url, /^https:/);
  const first = await fingerprintAt(server.port);
  files.pair = undefined;
  await clock.advance(61_000);
  assert.equal(await fingerprintAt(server.port), first);
  assert.deepEqual(
    lines.map(({ level }) => level),
    ["warn"],
  );
  files.pair = pairs[1];
  await clock.advance(61_000);
  assert.notEqual(await fingerprintAt(server.port), first);
});
