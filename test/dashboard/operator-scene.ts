import { join } from "node:path";
import type { Browser } from "playwright-core";
import { rndcKey } from "../../src/api/keyturn/rndc-key.ts";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { sandboxPlace } from "../../src/cli/sandbox/sandbox-place.ts";
import type { PolicyRule } from "../../src/install/permissions.ts";
import { NotServed } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { startSandbox } from "../../src/sandbox/http/serve-sandbox.ts";
import { freePort } from "../../src/sandbox/named/loopback-address.ts";
import { ensureDashboard } from "../../tools/dashboard-build.ts";
import { btp } from "../families/btp.ts";
import { installDefinitions } from "../operator/bindings.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { type KeyturnOperator, startKeyturnOperator } from "../support/keyturn-operator.ts";
import { accountKubeconfig } from "../support/operator-access.ts";
import { SandboxClient } from "../support/sandbox-client.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import type { Target } from "../support/target.ts";
import { type OpenOptions, openBrowser } from "./browser.ts";
import { Cast } from "./cast.ts";
import { Installation } from "./installation.ts";
import { KeyMaterial } from "./key-material.ts";
import type { Scene } from "./scene.ts";
import { Visit } from "./visit.ts";

const HOME = "keyturn-stories";
const CONTROLLERS = ["btp", "bind9-keys", "restart"];
const FLAGS = [
  ...["--controllers", CONTROLLERS.join(), "--min-frequency", "1s", "--drift-check", "5s", "--settle-time", "2s"],
  ...["--restart-quiet-period", "1s", "--restart-max-wait", "3s", "--restart-max-per-hour", "0"],
  "--dashboard-changes",
];

const rule = (group: string, resources: readonly string[], ...verbs: readonly string[]): PolicyRule => ({
  apiGroups: [group],
  resources,
  verbs,
});
const credentials = (...verbs: readonly string[]): readonly PolicyRule[] => [
  rule(btp.type.group, [btp.type.plural], ...verbs),
  rule(rndcKey.group, [rndcKey.plural], ...verbs),
];
/** What shows who uses a Secret, and what became of it. */
const surroundings: readonly PolicyRule[] = [
  rule("", ["pods"], "get", "list"),
  rule("apps", ["deployments", "replicasets", "statefulsets", "daemonsets"], "get", "list"),
  rule("batch", ["jobs", "cronjobs"], "get", "list"),
  rule("events.k8s.io", ["events"], "get", "list"),
];
const secrets: readonly PolicyRule[] = [rule("", ["secrets"], "get", "list")];

interface Parts {
  readonly browser: Browser;
  readonly kube: Kube;
  readonly material: KeyMaterial;
  readonly installation: Installation;
  readonly cast: Cast;
  readonly running: { operator: KeyturnOperator; readonly start: () => KeyturnOperator };
  readonly url: string;
  readonly ends: AsyncDisposableStack;
}

/**
 * An operator that serves the page, with the rights of `keyturn manifests --serve-dashboard` and no others, and people who
 * come with tokens of their own: an editor who may change everything that is told of, a looker who may change nothing, and a
 * reader who may look in one namespace. In two namespaces there is a key for name servers that nobody runs.
 */
export class OperatorScene implements Scene {
  /** The one that the reader may look into, and the other one. */
  readonly namespaces = ["stories-shop", "stories-bank"] as const;
  /** To look at all credentials. */
  readonly everything: readonly PolicyRule[] = credentials("get", "list");
  readonly url: string;
  readonly kube: Kube;
  readonly cast: Cast;
  readonly installation: Installation;
  readonly #parts: Parts;

  static async open(target: Target, ends: AsyncDisposableStack): Promise<OperatorScene> {
    await ensureDashboard();
    const server = await target.start();
    ends.defer(() => server.stop());
    const kube = await connect(server.kubeconfig);
    ends.defer(() => kube.close());
    await installDefinitions(kube);
    const installation = new Installation({ kube, home: HOME, isEnforced: true, ends });
    const account = await installation.install(CONTROLLERS);
    const sandbox = await startSandbox({ clock: systemClock, random: systemRandom });
    ends.defer(() => sandbox.stop());
    await putProviderConfig(installation, kube, sandbox.sandbox.controls.issueClient(sandbox.url));
    const port = await freePort("127.0.0.1");
    const kubeconfig = await accountKubeconfig(server.kubeconfig, kube, account);
    const flags = [...FLAGS, "--dashboard-bind", `127.0.0.1:${port}`, "--audit-log", join(scratchFolder(), "audit")];
    // The one that runs by then is ended below, after all that needs it.
    const after = (): void => {};
    const start = (): KeyturnOperator => startKeyturnOperator({ kubeconfig, namespace: HOME, flags, after });
    const running = { operator: start(), start };
    ends.defer(async () => void (await running.operator.stop("SIGTERM")));
    await running.operator.ready();
    const material = await KeyMaterial.watch(kube);
    ends.defer(() => material.stop());
    const browser = await openBrowser();
    ends.defer(() => browser.close());
    const cast = new Cast({ kube, sandbox: new SandboxClient(sandboxPlace(sandbox)), config: HOME });
    ends.defer(() => cast.leave());
    const url = `http://127.0.0.1:${port}`;
    const scene = new OperatorScene({ browser, kube, material, installation, cast, running, url, ends });
    await Promise.all([cast.enter(), scene.#putKeys(ends)]);
    await scene.#admit();
    return scene;
  }

  private constructor(parts: Parts) {
    const { url, kube, cast, installation } = parts;
    this.url = url;
    this.kube = kube;
    this.cast = cast;
    this.installation = installation;
    this.#parts = parts;
  }

  enter(path = "/", options: OpenOptions = {}): Promise<Visit> {
    return this.enterAs("editor", path, options);
  }

  async enterAs(name: string, path = "/", options: OpenOptions = {}): Promise<Visit> {
    const visit = await this.arrive(path, options);
    await this.signIn(visit, await this.installation.tokenOf(name));
    await visit.live();
    return visit;
  }

  /** Somebody who has yet to say who they are. */
  async arrive(path = "/", options: OpenOptions = {}): Promise<Visit> {
    const visit = await Visit.begin(this.#parts, options);
    await visit.page.goto(this.url + path);
    return visit;
  }

  async signIn({ page, keys }: Visit, token: string): Promise<void> {
    await page.getByLabel("Token").waitFor();
    await keys.tabTo(/^Token$/);
    await keys.paste(token);
    await keys.enter(/^Look at the cluster$/);
  }

  /** With `kill -9`. */
  async kill(): Promise<void> {
    await this.#parts.running.operator.stop("SIGKILL");
  }

  /** Another one, at the same address. */
  async start(): Promise<void> {
    const { running } = this.#parts;
    running.operator = running.start();
    await running.operator.ready();
  }

  async #putKeys(ends: AsyncDisposableStack): Promise<void> {
    for (const namespace of this.namespaces) {
      await this.installation.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
      await eventually("RndcKeys to be served", () =>
        this.kube.create<KubeObject>(rndcKey, keyIn(namespace)).catch((error: unknown) => {
          if (error instanceof NotServed) return undefined;
          throw error;
        }),
      );
      ends.defer(() => this.#removeKey(namespace));
    }
  }

  async #removeKey(namespace: string): Promise<void> {
    const ref = { namespace, name: "dns" };
    await this.kube.delete(rndcKey, ref);
    await eventually("the key to go", () =>
      this.kube.get(rndcKey, ref).then(
        () => undefined,
        () => true,
      ),
    );
  }

  async #admit(): Promise<void> {
    const { installation, cast } = this;
    await installation.admit(
      "editor",
      { rules: [...credentials("get", "list", "patch"), ...surroundings] },
      { namespace: cast.namespace, rules: secrets },
      { namespace: HOME, rules: secrets },
    );
    await installation.admit("looker", { rules: [...credentials("get", "list"), ...surroundings] });
    await installation.admit("reader", { namespace: this.namespaces[0], rules: credentials("get", "list") });
  }
}

async function putProviderConfig(installation: Installation, kube: Kube, login: object): Promise<void> {
  const metadata = { namespace: HOME, name: "sandbox" };
  const stringData = { credentials: JSON.stringify(login) };
  await kube.create<KubeObject>(secretType, { apiVersion: "v1", kind: "Secret", metadata, stringData });
  const config = btp.config(HOME, { ...metadata, key: "credentials" });
  await eventually("ProviderConfigs to be served", () =>
    installation.apply(config as KubeObject).then(
      () => true,
      (error: unknown) => {
        if (error instanceof NotServed) return undefined;
        throw error;
      },
    ),
  );
}

const keyIn = (namespace: string): KubeObject => ({
  apiVersion: apiVersionOf(rndcKey),
  kind: rndcKey.kind,
  metadata: { namespace, name: "dns" },
  spec: {
    secret: { name: "dns-rndc" },
    keyName: "dns",
    strategy: "Overlap",
    instances: ["dns"],
    rotation: { frequency: "480h", ttl: "490h" },
  },
});
