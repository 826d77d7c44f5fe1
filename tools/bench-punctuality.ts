import { figure, reportFigures } from "../test/bench/figures.ts";
import { restingMegabytes } from "../test/bench/process-memory.ts";
import { onRealServer } from "../test/bench/real-server.ts";
import { apiServerMeter, isWrite, sumOf } from "../test/bench/request-counts.ts";
import { measureSpreadOut } from "../test/bench/spread-out.ts";
import { btp } from "../test/families/btp.ts";
import { buildDist } from "./build-dist.ts";
import { writeEvidence } from "./evidence.ts";

/**
 * `npm run bench:punctuality`: on a real control plane, 10,000 bindings whose due times are spread over ten minutes. First
 * a quiet minute, in which whatever the operator asks of both servers is counted; then how late each rotation begins,
 * while the broker of the first two lets every request wait and fail.
 */
const BINDINGS = 10_000;
const FAILING = 2;
const FAILING_INSTANCE = "failing";
const ROTATED = 'keyturn_rotations_total{kind="ServiceBinding",cause="rotated"}';
const MINUTE_MS = 60_000;
const DRIFT_CHECK_MINUTES = 60;
const FLAGS = ["--min-frequency", "1s", "--drift-check", `${DRIFT_CHECK_MINUTES}m`];
/** A drift check of each binding once an hour, spread by UID; a sweep now and then, and what chance adds. */
const AS_MANY_AS_CHECKS = `<= ${Math.ceil((BINDINGS / DRIFT_CHECK_MINUTES) * 1.5)}`;

await buildDist();
await onRealServer({ family: btp }, async (world) => {
  await world.startOperator(FLAGS);
  await world.control("PUT", `instances/${FAILING_INSTANCE}`, {});
  let madeMegabytes = Number.NaN;
  const { lateness, quiet } = await measureSpreadOut(world, {
    count: BINDINGS,
    leadMs: 6 * MINUTE_MS,
    spreadMs: 10 * MINUTE_MS,
    quietMs: MINUTE_MS,
    patienceMs: 20 * MINUTE_MS,
    kubeMeter: apiServerMeter(world.kube),
    instanceOf: (index) => (index < FAILING ? FAILING_INSTANCE : undefined),
    onAtRest: async () => {
      madeMegabytes = await restingMegabytes(world.operator.processId);
      console.log(`${BINDINGS} bindings at rest, ${Math.round(madeMegabytes)} MB`);
      // Whoever has just made a key has looked at it; after a start, looks are spread over the whole period.
      await world.startOperator(FLAGS);
      await world.untilHealthy(BINDINGS, MINUTE_MS);
      await world.untilIdle(20 * MINUTE_MS);
    },
    onQuietOver: async () => {
      const failing = { brokerFailures: "always", brokerLatencyMs: 20_000 };
      await world.control("PUT", `instances/${FAILING_INSTANCE}`, failing);
    },
  });
  const isRotated = (metrics: ReadonlyMap<string, number>): boolean =>
    (metrics.get(ROTATED) ?? 0) >= BINDINGS - FAILING;
  await world.untilMetrics("all that can be to be rotated", MINUTE_MS, isRotated);
  const isList = (key: string): boolean => key === "GET /v1/service_bindings";
  const figures = [
    figure(`rotated beside ${FAILING} that cannot be`, BINDINGS - FAILING),
    figure("lateness, median: ms", lateness.medianMs),
    figure("lateness, 99th percentile: ms", lateness.p99Ms),
    figure("lateness, 99.9th percentile: ms", lateness.p999Ms, "<= 1000"),
    figure("lateness, largest: ms", lateness.maxMs, "<= 1000"),
    figure("a quiet minute: lists by mark", sumOf(quiet.outside, isList), AS_MANY_AS_CHECKS),
    // The first request after a start needs a token.
    figure(
      "a quiet minute: other requests outside",
      sumOf(quiet.outside, (key) => !isList(key)),
      "<= 1",
    ),
    figure("a quiet minute: Kubernetes writes", sumOf(quiet.kube, isWrite), "<= 0"),
    figure(
      "a quiet minute: Kubernetes reads",
      sumOf(quiet.kube, (key) => /^(?:GET|LIST) /.test(key)),
      AS_MANY_AS_CHECKS,
    ),
    figure(`${BINDINGS} bindings at rest: RSS in MB`, madeMegabytes, "<= 200"),
    figure(
      `${BINDINGS} bindings, after their rotations: RSS in MB`,
      await restingMegabytes(world.operator.processId),
      "<= 200",
    ),
  ];
  writeEvidence("bench-punctuality", { machine: "2 cores, shared", bindings: BINDINGS, lateness, figures, quiet });
  console.log(JSON.stringify(quiet, null, 2));
  reportFigures("punctuality", figures);
});
