import { describe, test } from "node:test";
import { allStories } from "./all-stories.ts";
import { EmbeddedStage } from "./embedded-stage.ts";
import { RealStage } from "./real-stage.ts";
import { realStories } from "./real-stories.ts";
import type { RestartStage, Story } from "./restart-stage.ts";

/** On the embedded server all of them; on a real one, which `npm run test:cluster` names, those that need no clock. */
const kubeconfig = process.env.KEYTURN_CONFORMANCE_KUBECONFIG;

async function onEmbedded({ settings, run }: Story<EmbeddedStage>): Promise<void> {
  const stage = await EmbeddedStage.set(settings && { settings });
  await run(stage);
  await stage.strike();
}

async function onReal({ settings, isWide, run }: Story<RestartStage>, real: string): Promise<void> {
  const stage = await RealStage.set(real, { settings, isWide });
  try {
    await run(stage);
  } finally {
    await stage.strike();
  }
}

function tellOnEmbedded(): void {
  for (const [name, stories] of Object.entries(allStories)) {
    describe(`restarts: ${name}`, () => {
      for (const story of stories) test(story.title, () => onEmbedded(story));
    });
  }
}

/** Most of their time is waiting for what must not happen. */
const AT_A_TIME = 8;

function tellOnReal(real: string): void {
  const all = [...Object.entries(allStories), ...Object.entries(realStories)].flatMap(([name, stories]) =>
    stories.filter(({ needsClock }) => !needsClock).map((story) => ({ name, story: story as Story })),
  );
  const tell = (isWide: boolean): void => {
    for (const { name, story } of all) {
      if ((story.isWide ?? false) === isWide) test(`${name}: ${story.title}`, () => onReal(story, real));
    }
  };
  describe("restarts on a real control plane", { concurrency: AT_A_TIME }, () => tell(false));
  describe("restarts on a real control plane, one at a time", () => tell(true));
}

if (kubeconfig === undefined) tellOnEmbedded();
else tellOnReal(kubeconfig);
