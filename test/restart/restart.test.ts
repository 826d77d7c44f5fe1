import { describe, test } from "node:test";
import { allStories } from "./all-stories.ts";
import { EmbeddedStage } from "./embedded-stage.ts";
import { RealStage } from "./real-stage.ts";
import type { RestartStage, Story } from "./restart-stage.ts";

/** On the embedded server all of them; on a real one, which `npm run test:cluster` names, those that need no clock. */
const kubeconfig = process.env.KEYTURN_CONFORMANCE_KUBECONFIG;

async function onEmbedded({ settings, run }: Story<EmbeddedStage>): Promise<void> {
  const stage = await EmbeddedStage.set(settings && { settings });
  await run(stage);
  await stage.strike();
}

async function onReal({ settings, run }: Story<RestartStage>, real: string): Promise<void> {
  const stage = await RealStage.set(real, settings);
  try {
    await run(stage);
  } finally {
    await stage.strike();
  }
}

for (const [name, stories] of Object.entries(allStories)) {
  describe(`restarts: ${name}`, () => {
    for (const story of stories) {
      if (kubeconfig === undefined) test(story.title, () => onEmbedded(story));
      else if (!story.needsClock) test(story.title, () => onReal(story as Story, kubeconfig));
    }
  });
}
