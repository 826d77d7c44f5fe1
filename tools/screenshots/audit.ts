import type { AuditEntry } from "../../src/audit/audit-entry.ts";
import { AuditLedger } from "../../src/audit/audit-ledger.ts";
import { AuditLog } from "../../src/audit/audit-log.ts";
import { FileSink } from "../../src/audit/line-sink.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { ManualClock } from "../../src/base/manual-clock.ts";
import { seededRandom } from "../../src/base/random.ts";
import type { Kube } from "../../src/kube/port.ts";
import { CAST, type Credential } from "./cast.ts";
import { type CastKey, castKeys } from "./cast-state.ts";

/** Writes down what became of the cast within the last year, as an operator would have. */
export async function writeAudit(path: string, kube: Kube, now: number): Promise<void> {
  const steps = CAST.flatMap((credential) => castKeys(credential, now).flatMap((key) => stepsOf(credential, key, now)));
  steps.sort((a, b) => a.at - b.at);
  const clock = new ManualClock(steps[0]?.at ?? now);
  const namespace = "keyturn-system";
  const log = new AuditLog({
    sink: new FileSink(path),
    openLedger: (signal) => AuditLedger.open({ kube, namespace, random: seededRandom(1) }, signal),
    clock,
    logger: silentLogger,
    instance: "keyturn-7c9d5b8f6-x2x4q",
    chain: "7c9d5b8f6x2x4q",
    version: "0.2.0",
  });
  for (const { at, entry } of steps) {
    clock.jump(at - clock.now());
    log.record(entry);
  }
  await log.close(new AbortController().signal);
}

interface Step {
  readonly at: number;
  readonly entry: AuditEntry;
}

function stepsOf(
  credential: Credential,
  { id, name, createdAt, deletedAt, reason }: CastKey,
  now: number,
): readonly Step[] {
  const { kind, namespace } = credential;
  const isNamespaced = kind === "RotatingResource" || kind === "RndcKey";
  const common = {
    controller: kind === "ServiceBinding" ? "btp" : "cloudfoundry",
    object: { kind, name: credential.name, ...(isNamespaced && { namespace }) },
    key: { id, name },
    outcome: "done",
  } as const;
  const published = `The Secret ${namespace}/${credential.name} holds key ${name} (${id}).`;
  const steps: Step[] = [
    { at: createdAt, entry: { ...common, action: "KeyPublished", cause: reason, note: published } },
  ];
  if (deletedAt !== undefined && deletedAt <= now) {
    const note = `Key ${name} (${id}) was deleted.`;
    steps.push({ at: deletedAt, entry: { ...common, action: "KeyDeleted", cause: "rotated", note } });
  }
  return steps;
}
