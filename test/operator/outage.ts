import assert from "node:assert/strict";
import { connect } from "../support/connect.ts";
import { startKeyturnOperator } from "../support/keyturn-operator.ts";
import { operatorAccess } from "../support/operator-access.ts";
import type { ServerName } from "../support/target.ts";
import { changesOf, createBinding, deleteBinding, installDefinitions, knowsBindings, workedOn } from "./bindings.ts";

/** A server that can be taken away and brought back where it was. */
export interface MortalServer {
  readonly name: ServerName;
  readonly kubeconfig: string;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** The operator outlives the server, goes on when it is back, and sees what it has missed, each change once. */
export async function surviveOutage(server: MortalServer, after: (end: () => Promise<void>) => void): Promise<void> {
  const kube = await connect(server.kubeconfig);
  after(() => kube.close());
  await installDefinitions(kube);
  await createBinding(kube, "before");
  const access = await operatorAccess(server, { controllers: ["btp"] });
  const operator = startKeyturnOperator({ ...access, flags: ["--controllers", "btp"], after });
  await operator.logs("reconcile failed", { key: "before" });
  await workedOn(kube, "before");
  await operator.ready();
  await server.stop();
  await operator.logs("cannot watch; trying on", { count: 2 });
  assert.equal(await operator.isReady(), true, "a short outage is no reason to be taken out");
  await server.start();
  await createBinding(kube, "after");
  await deleteBinding(kube, "before");
  await operator.logs("reconcile failed", { key: "after" });
  await workedOn(kube, "after");
  await knowsBindings(operator, 1);
  await operator.ready();
  assert.equal(await changesOf(operator, "added"), 2, "what did not change was not told of again");
  assert.equal(await changesOf(operator, "deleted"), 1);
  assert.deepEqual(
    operator.lines(/failed/).map(({ code, key }) => `${code} ${key}`),
    ["SpecProblem before", "SpecProblem after"],
  );
  const { code, tookMs } = await operator.stop("SIGTERM");
  assert.equal(code, 0, operator.text);
  assert.ok(tookMs < 5_000, `leaving took ${tookMs} ms`);
}
