import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { test } from "node:test";
import { instance, keyFile } from "../../src/bind/bind-objects.fixture.ts";
import { fieldAt } from "../../src/bind/fields.ts";
import { instanceObjects } from "../../src/bind/instance-objects.ts";
import { NAMED_CONF, PATHS } from "../../src/bind/named-conf.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { eventually } from "../support/eventually.ts";
import { NamedPod } from "./named-pod.ts";
import { type NamedProgram, namedFor } from "./named-program.ts";
import type { PodKeeper } from "./pod-keeper.ts";

const keeper: PodKeeper = {
  begin: async () => {},
  run: async () => {},
  tell: async () => {},
  end: async () => {},
};

/** A pod of an instance, and the files of its volumes. */
function podOf(): { readonly pod: KubeObject; readonly files: ReadonlyMap<string, Readonly<Record<string, string>>> } {
  const keys = { kind: "file", secretName: "k", keyName: "bindy-operator" } as const;
  const [config, deployment] = instanceObjects({ instance: instance(), cluster: undefined, keys });
  const metadata = { name: "dns-primary-0-a", namespace: "net", uid: "u" };
  const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: fieldAt(deployment, ["spec", "template", "spec"]) };
  const conf = String(fieldAt(config, ["data", NAMED_CONF]));
  const files = new Map([
    [PATHS.config as string, { [NAMED_CONF]: conf }],
    [PATHS.key, { "rndc.key": keyFile() }],
  ]);
  return { pod, files };
}

test("a port that somebody takes before named listens there is given up for another one", async (context) => {
  const inner = await namedFor("embedded");
  const ports: number[] = [];
  const program: NamedProgram = {
    name: "one that somebody is quicker than, once",
    async start(configPath) {
      const [, port] = /listen-on port (\d+) /.exec(readFileSync(configPath, "utf8")) ?? [];
      ports.push(Number(port));
      if (ports.length === 1) {
        const thief = createServer().listen(Number(port), "127.0.0.1");
        context.after(() => void thief.close());
        await once(thief, "listening");
      }
      return inner.start(configPath);
    },
  };
  const { pod, files } = podOf();
  const filesOf = async ({ path }: { readonly path: string }) => files.get(path) ?? {};
  const named = new NamedPod({ pod, keeper, program, filesOf, isHeld: () => false });
  const troubles: unknown[] = [];
  named.begin((error) => troubles.push(error));
  await eventually("named to be ready", async () => named.isReady || undefined);
  await named.end();
  assert.deepEqual(troubles, []);
  assert.equal(ports.length, 2);
  assert.notEqual(ports[0], ports[1]);
});
