import { after, before, test } from "node:test";
import { families } from "../families/families.ts";
import type { Family } from "../families/family.ts";
import { pickTarget } from "../support/pick-target.ts";
import { brisk, Stage } from "./stage.ts";
import { type BindingWishes, StoryBinding } from "./story-binding.ts";

/**
 * Stories about bindings of every kind, each told on a binding and a service instance of its own, all at the same time on
 * one server with one operator: the embedded server in `npm test`, a real one in `npm run test:cluster`. A story says what
 * a person does and what the world must come to; that the Secret let workloads in all along, and that nothing is left when
 * the binding goes, is checked for every one of them.
 */
export const target = await pickTarget();

/** Told side by side: stories mostly wait. */
export const together = { concurrency: 40, timeout: 180_000 } as const;

export interface StoryWishes extends BindingWishes {
  /** The story makes its binding itself, or none. */
  readonly isUnmade?: true;
  /** The story has let its binding go, with keys that stay. */
  readonly endsItself?: true;
  /** Of whom it is told, where not of all. */
  readonly families?: readonly Family[];
}

interface StoriesOptions {
  readonly flags?: readonly string[];
  readonly families?: readonly Family[];
}

/** To be made inside a `describe`: sets the stage before the stories that are told, and strikes it after them. */
export class Stories {
  readonly #name: string;
  readonly #families: readonly Family[];
  #stage: Stage | undefined;

  constructor(name: string, { flags = brisk(), families: told = families }: StoriesOptions = {}) {
    this.#name = name;
    this.#families = told;
    before(async () => {
      this.#stage = await Stage.set({ target, name, families: [...new Set([...families, ...told])] });
      await this.#stage.startOperator(flags).ready();
    });
    after(() => this.stage.strike());
  }

  get stage(): Stage {
    if (this.#stage === undefined) throw new Error("the stage is set before the first story, not earlier");
    return this.#stage;
  }

  /** A story about a binding `name` of each family. */
  tell(name: string, title: string, story: Story): void;
  tell(name: string, title: string, wishes: StoryWishes, story: Story): void;
  tell(name: string, title: string, ...rest: [Story] | [StoryWishes, Story]): void {
    const [wishes, story] = rest.length === 1 ? [{}, rest[0]] : rest;
    for (const family of wishes.families ?? this.#families) {
      test(`${family.title}: ${title}`, () => this.#play(family, name, { wishes, story }));
    }
  }

  async #play(
    family: Family,
    name: string,
    { wishes, story }: { readonly wishes: StoryWishes; readonly story: Story },
  ): Promise<void> {
    const { instance } = wishes;
    const fullName = `${this.#name}-${family.controller}-${name}`;
    const binding = new StoryBinding(this.stage, { family, name: fullName, ...(instance && { instance }) });
    if (!wishes.isUnmade) {
      await binding.create(binding.manifest(wishes));
      await binding.calm("the first key to be in use");
    }
    await story(binding);
    if (!wishes.endsItself) await binding.end();
  }
}

export type Story = (binding: StoryBinding) => Promise<void>;
