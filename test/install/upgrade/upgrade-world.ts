import assert from "node:assert/strict";
import { BindStage } from "../../bind-cluster/bind-stage.ts";
import { namedFor } from "../../bind-cluster/named-program.ts";
import { FailoverWorld } from "../../failover/failover-world.ts";
import { KorifiWorld } from "../../korifi/korifi-world.ts";
import { installPodStatuses } from "../../restart/pod-status-objects.ts";
import { Stage } from "../../rotation/stage.ts";
import { eventually } from "../../support/eventually.ts";
import type { KeyturnOperator } from "../../support/keyturn-operator.ts";
import type { Target } from "../../support/target.ts";
import { AnyResources } from "./any-resources.ts";
import { Documents } from "./documents.ts";
import { RotationWatch } from "./rotation-watch.ts";
import { TemplateWatch } from "./template-watch.ts";

/** Of each kind with keys at an external system; rotated every six seconds. */
const EACH = 2;
const LOOK_MS = 90_000;
/** Whose pods are restarted by what is done here: those of the operator itself, and of who uses what is rotated. */
const RESTARTED = /^Deployment (keyturn-system\/keyturn|[^/]+\/uses-failover-[a-z-]+-\d+-secret)$/;

/**
 * What is around an operator that is being upgraded: what the documents write down, which stays as it is, and resources of
 * every kind that are rotated all along. Must not: help the operator, or know which version of it is at work.
 */
export class UpgradeWorld {
  readonly stage: Stage;
  readonly rotations: RotationWatch;
  readonly #bind: BindStage;
  readonly #documents: Documents;
  readonly #any: AnyResources;
  readonly #families: FailoverWorld;
  readonly #templates: TemplateWatch;
  readonly #ends: AsyncDisposableStack;
  #quiet: ReadonlyMap<string, number> = new Map();

  /** On a server that has our kinds already. */
  static async open(target: Target): Promise<UpgradeWorld> {
    const ends = new AsyncDisposableStack();
    const opened = async <T>(opening: Promise<T> | T, close: (part: T) => Promise<void>): Promise<T> => {
      const part = await opening;
      ends.defer(() => close(part));
      return part;
    };
    try {
      const stage = await opened(Stage.set({ target, name: "upgrade", hasKinds: true }), (part) => part.close());
      const { kube } = stage;
      await installPodStatuses(kube);
      // What stands in for named, even where BIND is installed: there are many.
      const program = await namedFor("embedded");
      const bind = await opened(BindStage.set({ target, program, hasKinds: true }), (part) => part.close());
      const korifi = await opened(KorifiWorld.open(kube), (part) => part.close());
      const any = await opened(AnyResources.open(kube), (part) => part.close());
      const documents = await opened(new Documents({ stage, bind, korifi }), (part) => part.close());
      const families = await opened(new FailoverWorld(stage, EACH, { replicas: 0 }), (part) => part.stop());
      const templates = await opened(new TemplateWatch(kube), (part) => part.stop());
      const rotations = await opened(new RotationWatch(kube), (part) => part.stop());
      await Promise.all([templates.synced(), rotations.synced()]);
      return new UpgradeWorld({ stage, bind, any, documents, families, templates, rotations, ends });
    } catch (error) {
      await ends.disposeAsync();
      throw error;
    }
  }

  private constructor(parts: {
    readonly stage: Stage;
    readonly bind: BindStage;
    readonly any: AnyResources;
    readonly documents: Documents;
    readonly families: FailoverWorld;
    readonly templates: TemplateWatch;
    readonly rotations: RotationWatch;
    readonly ends: AsyncDisposableStack;
  }) {
    this.stage = parts.stage;
    this.rotations = parts.rotations;
    this.#bind = parts.bind;
    this.#any = parts.any;
    this.#documents = parts.documents;
    this.#families = parts.families;
    this.#templates = parts.templates;
    this.#ends = parts.ends;
  }

  /** Whoever looks at a stage looks at its logs, too. */
  addOperator(operator: KeyturnOperator): void {
    this.stage.operators.push(operator);
    this.#bind.operators.push(operator);
  }

  /** Everything is applied and works; from now on no template changes that has no reason to. */
  async begin(): Promise<void> {
    await Promise.all([this.#documents.begin(), this.#any.begin(), this.#families.begin()]);
    await this.moves();
    this.#quiet = this.#templates.changes();
    assert.ok(
      [...this.#quiet.keys()].filter((name) => !RESTARTED.test(name)).length >= 10,
      [...this.#quiet.keys()].join(),
    );
  }

  /** What the documents write down is applied once more, beside what is there. */
  async beginAgain(): Promise<void> {
    await this.#documents.again();
  }

  /** Until a rotation is under way at a broker. */
  async underWay(): Promise<void> {
    await eventually("a rotation to be under way", async () => {
      return this.#families.underWay().some((binding) => binding.isAtBroker()) || undefined;
    });
  }

  /** Until everything that is rotated has had another two keys, where its keys are made outside, and another one elsewhere. */
  async moves(): Promise<void> {
    const before = this.rotations.sequences();
    const quick = [...before].filter(([resource]) => QUICK.test(resource));
    assert.ok(quick.length >= EACH * 3, [...before.keys()].join());
    const owed = (): readonly string[] =>
      quick
        .filter(([resource, sequence]) => {
          const more = /failover/.test(resource) ? 2 : 1;
          return (this.rotations.sequences().get(resource) ?? 0) < sequence + more;
        })
        .map(([resource]) => resource);
    await eventually("everything to be rotated", async () => owed().length === 0 || undefined, LOOK_MS).catch(
      (error: unknown) => assert.fail(`${error}: ${owed().join()}\n${this.stage.logOf("failover")}`),
    );
  }

  /** Nobody was locked out, nothing was lost or left, and nobody was restarted who had no reason to be. */
  async assertWell(when: string): Promise<void> {
    this.#families.check(when);
    const changed = [...this.#templates.changes()]
      .filter(([name, changes]) => !RESTARTED.test(name) && changes !== (this.#quiet.get(name) ?? changes))
      .map(([name]) => name);
    assert.deepEqual(changed, [], `${when}: pod templates that have changed`);
    const logs = this.stage.operators.map(({ text }) => text);
    assert.deepEqual([...this.#families.figures().problems, ...(await this.#documents.problems(logs))], [], when);
  }

  /** Everything goes, and nothing is left outside; with the last of it the operators leave. */
  async end(): Promise<ReturnType<FailoverWorld["figures"]>> {
    await Promise.all([this.#documents.end(), this.#any.end()]);
    await this.#families.end();
    const figures = this.#families.figures();
    await this.#bind.strike();
    await this.stage.strike();
    return figures;
  }

  async close(): Promise<void> {
    await this.#ends.disposeAsync();
  }
}

/** What is rotated every few seconds, as the watch names it. */
const QUICK = /(failover-[a-z-]+-\d+|^RotatingResource shop\/quick|^RndcKey quick-dns-.*)$/;
