import { allFamilies, direct } from "../families/families.ts";
import type { Family } from "../families/family.ts";
import type { InstanceWishes } from "../families/stand-in.ts";
import { EXTERNAL_NAME, type StoryBinding } from "./story-binding.ts";

export interface KillStory {
  readonly name: string;
  readonly instance?: InstanceWishes;
  /** Of whom it is told, where not of all. */
  readonly families?: readonly Family[];
  /** What is there before: nobody is killed for it. */
  prepare?(binding: StoryBinding): Promise<void>;
  /** What a person does, and what must come of it, whatever is killed when. */
  tell(binding: StoryBinding): Promise<void>;
}

/** The kinds of which a story is told. */
export const castOf = (story: KillStory): readonly Family[] => story.families ?? allFamilies;

/** What every change is tried with. */
export const killStories: readonly KillStory[] = [
  {
    name: "create, rotate, expire, delete",
    async tell(binding) {
      await binding.create(configured(binding, { rotation: { ttl: "3s", frequency: "2s" } }));
      const first = await binding.calm("the first key");
      const second = await binding.rotated(first);
      await binding.patchRotation(null);
      await binding.removed(first.activeId ?? "");
      await binding.calm("only the active key to be left", ({ outside, sequence }) => {
        return outside.length === 1 && sequence >= second.sequence;
      });
    },
  },
  {
    name: "delete in mid-rotation",
    // Slow enough that the resource is deleted while the broker is at it.
    instance: { brokerLatencyMs: 600 },
    async tell(binding) {
      await binding.create(configured(binding, {}));
      await binding.calm("the first key");
      await binding.askForRotation("now");
      await binding.until("the next key to be intended", ({ isPending }) => isPending);
      // A parent that goes before its child has asked for a key takes the child along: there would be nothing to kill at.
      if (binding.family.children) await binding.until("the next key to be asked for", () => keysOf(binding) > 1);
    },
  },
];

const keysOf = ({ stage, instances }: StoryBinding): number =>
  stage.keys().filter(({ instanceId }) => instances.includes(instanceId)).length;

/** What takes longer: a Service Manager's asynchronous broker is looked at every ten seconds. */
export const longKillStories: readonly KillStory[] = [
  {
    name: "take over, rotate, delete",
    families: direct,
    async tell(binding) {
      const id = await binding.makeByHand(`${binding.name}-by-hand`);
      await binding.create(configured(binding, { annotations: { [EXTERNAL_NAME]: id } }));
      const first = await binding.calm("the key to be taken over", ({ outside }) => outside.join() === id);
      await binding.annotate({ "keyturn.dev/compromised": "yes" });
      await binding.calm("its successor", ({ outside, sequence }) => outside.length === 1 && sequence > first.sequence);
    },
  },
  {
    name: "create and delete at an asynchronous broker",
    instance: { broker: "asynchronous", brokerWorkMs: 1_000 },
    async tell(binding) {
      await binding.create(configured(binding, {}));
      await binding.calm("the first key", ({ outside }) => outside.length === 1);
    },
  },
  {
    name: "move the Secret, replace a compromised key, delete",
    async tell(binding) {
      await binding.create(configured(binding, {}));
      const first = await binding.calm("the first key");
      const former = binding.secretRef;
      binding.moveSecret(`${binding.name}-moved`);
      await binding.patchSpec({ writeConnectionSecretToRef: binding.secretRef });
      await binding.calm("the Secret under its new name");
      await binding.annotate({ "keyturn.dev/compromised": "yes" });
      await binding.calm("its successor", ({ outside, sequence }) => {
        const isLeft = binding.stage.secrets.get(former) !== undefined;
        return outside.length === 1 && sequence > first.sequence && !isLeft;
      });
    },
  },
];

/** With the ProviderConfig that is the round's own. */
export const configured = (binding: StoryBinding, wishes: Parameters<StoryBinding["manifest"]>[0]) =>
  binding.manifest({ ...wishes, config: binding.name });
