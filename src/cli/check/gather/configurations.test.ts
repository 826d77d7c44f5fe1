import assert from "node:assert/strict";
import { test } from "node:test";
import { providerConfig } from "../../../api/btp/provider-config.ts";
import { definitionOf } from "../../../api/custom-resource.ts";
import { silentLogger } from "../../../base/logger.ts";
import { ManualClock } from "../../../base/manual-clock.ts";
import { seededRandom } from "../../../base/random.ts";
import { EmbeddedServer } from "../../../embedded/embedded-server.ts";
import { createLocalTransport } from "../../../embedded/http/local-transport.ts";
import { createKubeClient } from "../../../kube/kube-client.ts";
import { apiVersionOf, type KubeObject } from "../../../kube/objects.ts";
import type { Kube } from "../../../kube/port.ts";
import type { HttpPort } from "../../../providers/http-port.ts";
import { secretType } from "../../../publish/secret-publisher.ts";
import { createBtpFamily } from "../../../reconcile/btp/btp-family.ts";
import { crdType } from "../../../runtime/operator.ts";
import type { TriedConfig } from "../judge/configurations.ts";
import { gatherConfigurations } from "./configurations.ts";

const SECRET_WORD = "do-not-show-this";

/** Nobody answers; counts who has asked. */
class DeafHttp implements HttpPort {
  asked = 0;

  send(): Promise<never> {
    this.asked++;
    return new Promise(() => {});
  }
}

interface Scene {
  readonly kube: Kube;
  readonly clock: ManualClock;
  configure(name: string, credentials: Readonly<Record<string, string>> | undefined): Promise<void>;
}

async function scene(): Promise<Scene> {
  const clock = new ManualClock();
  const server = new EmbeddedServer({ clock, random: seededRandom(1), logger: silentLogger });
  const kube = createKubeClient({ transport: createLocalTransport(server.api), clock, userAgent: "test" });
  await kube.create<KubeObject>(crdType, definitionOf(providerConfig));
  return {
    kube,
    clock,
    configure: async (name, stringData) => {
      const metadata = { namespace: "default", name };
      if (stringData)
        await kube.create<KubeObject>(secretType, { apiVersion: "v1", kind: "Secret", metadata, stringData });
      await kube.create<KubeObject>(providerConfig, {
        apiVersion: apiVersionOf(providerConfig),
        kind: providerConfig.kind,
        metadata: { name },
        spec: { serviceManagerSecret: { source: "Secret", secretRef: metadata } },
      });
    },
  };
}

const CREDENTIALS = {
  clientid: "client",
  clientsecret: SECRET_WORD,
  sm_url: "https://sm.example",
  url: "https://uaa.example",
};

interface Trial {
  readonly isOffline?: boolean;
  readonly eachSecond?: () => void;
  readonly namespaces?: ReadonlySet<string>;
}

async function tried(
  { kube, clock }: Scene,
  http: HttpPort,
  { isOffline = false, eachSecond = () => {}, namespaces }: Trial = {},
): Promise<readonly TriedConfig[]> {
  const question = { families: [createBtpFamily()], http, clock, isOffline, ...(namespaces && { namespaces }) };
  const gathering = gatherConfigurations(kube, question);
  let isOver = false;
  const over = gathering.finally(() => {
    isOver = true;
  });
  for (let second = 0; second < 60 && !isOver; second++) {
    await clock.advance(1000);
    eachSecond();
  }
  const [facts] = await over;
  return facts?.configs.isSeen ? facts.configs.value : assert.fail("they were not seen");
}

test("nobody waits for longer than five seconds for one, and no more than eight are asked at a time", async () => {
  const here = await scene();
  for (let index = 0; index < 12; index++) await here.configure(`c${index}`, CREDENTIALS);
  const [http, startedAt] = [new DeafHttp(), here.clock.now()];
  const asked: number[] = [];
  const configs = await tried(here, http, { eachSecond: () => asked.push(http.asked) });
  assert.equal(configs.length, 12);
  for (const { outcome } of configs) {
    assert.deepEqual(outcome, {
      kind: "failed",
      code: "ProviderUnavailable",
      message: "there was no answer within 5 s",
    });
  }
  assert.deepEqual([...new Set(asked)], [8, 12], "eight, and the others when these have had their time");
  assert.ok(here.clock.now() - startedAt <= 12_000, "two rounds of five seconds");
  assert.doesNotMatch(JSON.stringify(configs), new RegExp(SECRET_WORD));
});

test("offline, Secrets are looked at and nobody is asked", async () => {
  const here = await scene();
  await here.configure("complete", CREDENTIALS);
  await here.configure("incomplete", { clientid: "client", clientsecret: SECRET_WORD });
  await here.configure("missing", undefined);
  const http = new DeafHttp();
  const configs = await tried(here, http, { isOffline: true });
  assert.deepEqual(
    configs.map(({ name, outcome }) => [name, outcome.kind === "failed" ? outcome.code : outcome.kind]),
    [
      ["complete", "complete"],
      ["incomplete", "ReferenceProblem"],
      ["missing", "ReferenceProblem"],
    ],
  );
  assert.equal(http.asked, 0);
  assert.doesNotMatch(JSON.stringify(configs), new RegExp(SECRET_WORD));
});

test("a Secret that the operator does not get is not looked at for it, whoever asks", async () => {
  const here = await scene();
  await here.configure("main", CREDENTIALS);
  for (const [namespaces, expected] of [
    [new Set(["shop", "keyturn-system"]), "outOfScope"],
    [new Set(["shop", "default"]), "complete"],
    [undefined, "complete"],
  ] as const) {
    const [config] = await tried(here, new DeafHttp(), { isOffline: true, ...(namespaces && { namespaces }) });
    assert.equal(config?.outcome.kind, expected);
    if (config?.outcome.kind === "outOfScope") assert.match(config.outcome.message, /Secret default\/main/);
  }
});

test("nothing is written: a configuration that is only looked at is not held", async () => {
  const here = await scene();
  await here.configure("main", CREDENTIALS);
  await tried(here, new DeafHttp());
  const config = await here.kube.get(providerConfig, { name: "main" });
  const secret = await here.kube.get(secretType, { namespace: "default", name: "main" });
  for (const { metadata } of [config, secret]) assert.equal(metadata.finalizers, undefined);
});
