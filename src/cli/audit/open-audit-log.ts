import { AuditLedger } from "../../audit/audit-ledger.ts";
import { AuditLog } from "../../audit/audit-log.ts";
import { AuditMetrics } from "../../audit/audit-metrics.ts";
import { FileSink, type LineSink, streamSink } from "../../audit/line-sink.ts";
import { messageOf, UsageError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { uuid } from "../../base/random.ts";
import type { Kube } from "../../kube/port.ts";
import type { Metrics } from "../../runtime/metrics.ts";
import type { OptionSpec, World } from "../command.ts";

export const auditLogOption: OptionSpec = {
  name: "audit-log",
  value: "FILE",
  description: "Where each step of a rotation is written down, a line of JSON each; - is stdout, off is nowhere.",
  default: "-",
};

export interface AuditLogParts {
  readonly kube: Kube;
  /** Where the operator keeps what is its own. */
  readonly namespace: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** What the flag says. A file that cannot be written is a mistake that shows at once. */
export async function openAuditLog(path: string, world: World, parts: AuditLogParts): Promise<AuditLog | undefined> {
  if (path === "off") return undefined;
  const sink = path === "-" ? streamSink((text) => world.stdout.write(text)) : await openFile(path);
  const { kube, namespace, logger, metrics } = parts;
  const { clock, random, hostName: instance, version } = world;
  const observer = new AuditMetrics(metrics.registry);
  const openLedger = (signal: AbortSignal): Promise<AuditLedger> =>
    AuditLedger.open({ kube, namespace, random }, signal);
  const log = new AuditLog({ sink, openLedger, clock, logger, instance, chain: uuid(random), version, observer });
  observer.addProbe(log);
  return log;
}

async function openFile(path: string): Promise<LineSink> {
  const sink = new FileSink(path);
  try {
    await sink.write("");
    return sink;
  } catch (error) {
    throw new UsageError(`--audit-log: ${messageOf(error)}`, error);
  }
}
