import type { Clock } from "../../../base/clock.ts";
import { KeyturnError } from "../../../base/errors.ts";
import { Redacted } from "../../../base/redacted.ts";
import { Forbidden } from "../../../kube/errors.ts";
import { describeType, keyOf } from "../../../kube/objects.ts";
import type { Kube } from "../../../kube/port.ts";
import { scopedKube } from "../../../kube/scoped-kube.ts";
import { inParallel } from "../../../providers/bind/in-parallel.ts";
import type { HttpPort } from "../../../providers/http-port.ts";
import { startDeadline } from "../../../providers/rest/deadline.ts";
import { Fingerprinter } from "../../../publish/fingerprint.ts";
import { secretType } from "../../../publish/secret-publisher.ts";
import type { ManagedFamily } from "../../../reconcile/managed/family.ts";
import { FamilySource } from "../../../reconcile/managed/family-source.ts";
import { seen } from "../finding.ts";
import type { ConfigurationFacts, Outcome } from "../judge/configurations.ts";
import { lookAtAll } from "./look.ts";

export interface ConfigurationQuestion {
  readonly families: readonly ManagedFamily[];
  readonly http: HttpPort;
  readonly clock: Clock;
  /** External systems are left alone; Secrets are looked at all the same. */
  readonly isOffline: boolean;
  /** Where the operator may read Secrets; everywhere, where absent. */
  readonly namespaces?: ReadonlySet<string>;
}

const AT_A_TIME = 8;
const PATIENCE_MS = 5_000;
/** A key of nobody's: to ask for it is to log in and to read, and the answer is short. */
const NOBODY = {
  clusterId: "keyturn-check",
  owner: { uid: "keyturn-check", kind: "keyturn-check", name: "keyturn-check" },
};

/** Tries every ProviderConfig as the operator would, and makes nothing. */
export async function gatherConfigurations(
  kube: Kube,
  question: ConfigurationQuestion,
): Promise<readonly ConfigurationFacts[]> {
  const facts: ConfigurationFacts[] = [];
  for (const family of question.families) {
    const kind = describeType(family.configType);
    const configs = await lookAtAll(kube, family.configType);
    if (!configs.isSeen) {
      facts.push({ kind, configs });
      continue;
    }
    const source = sourceOf(asOperator(kube, question.namespaces), family, question);
    const tried = await inParallel(configs.value, AT_A_TIME, async ({ metadata: { name } }) => ({
      name,
      outcome: await attempt(source, name, question),
    }));
    facts.push({ kind, configs: seen(tried) });
  }
  return facts;
}

/** Its fingerprints are asked for by nobody here. */
const sourceOf = (kube: Kube, family: ManagedFamily, { http, clock }: ConfigurationQuestion): FamilySource =>
  new FamilySource(family, { kube, http, clock, fingerprinter: new Fingerprinter(new Redacted(new Uint8Array(32))) });

/** Whoever is asked here may read more than the operator: what that would not get, nobody gets. */
function asOperator(kube: Kube, namespaces: ReadonlySet<string> | undefined): Kube {
  if (!namespaces) return kube;
  const own = scopedKube(kube, [...namespaces]);
  return {
    ...own,
    get: (type, ref, options) =>
      type.plural === secretType.plural && !namespaces.has(ref.namespace ?? "")
        ? Promise.reject(new OutOfScope(keyOf(ref)))
        : own.get(type, ref, options),
  };
}

class OutOfScope extends Forbidden {
  constructor(secret: string) {
    super(`its Secret ${secret} is in a namespace that the operator does not look at`);
  }
}

async function attempt(source: FamilySource, name: string, question: ConfigurationQuestion): Promise<Outcome> {
  const deadline = startDeadline(question.clock, PATIENCE_MS);
  try {
    const connection = await source.visit(name, deadline.signal);
    if (question.isOffline) return { kind: "complete" };
    await connection.listMarked(NOBODY, deadline.signal);
    return { kind: "works" };
  } catch (error) {
    if (deadline.isOver()) {
      const message = `there was no answer within ${PATIENCE_MS / 1000} s`;
      return { kind: "failed", code: "ProviderUnavailable", message };
    }
    if (error instanceof OutOfScope) return { kind: "outOfScope", message: error.message };
    if (!(error instanceof KeyturnError)) throw error;
    return { kind: "failed", code: error.code, message: error.message };
  } finally {
    deadline.cancel();
  }
}
