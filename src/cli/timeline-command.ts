import { UsageError } from "../base/errors.ts";
import { type Timeline, timelineOf } from "../insight/timeline/timeline.ts";
import { SpecProblem } from "../reconcile/managed/spec-problem.ts";
import type { Command, ExitCode, Flags, World } from "./command.ts";
import { readChoice, readDuration, readInstant } from "./flag-values.ts";
import { outputOption } from "./output-option.ts";
import { createPaint } from "./print/paint.ts";
import { type Manifest, readManifests } from "./timeline/read-manifests.ts";
import { timelineJson } from "./timeline/timeline-json.ts";
import { timelineText } from "./timeline/timeline-text.ts";

export const timelineCommand: Command = {
  name: "timeline",
  summary: "Show what a manifest's rotation policy will do, without a cluster.",
  description:
    "Plays the rotation engine through in simulated time, as if the manifest were applied at --from: when keys are\nreplaced, how long old and new overlap, how many live at a time.",
  options: [
    { name: "filename", short: "f", value: "FILE", description: "The manifest; - reads from a pipe. May be repeated." },
    { name: "for", value: "DURATION", description: "How long to look ahead.", default: "365d" },
    { name: "from", value: "DATE", description: "When it begins. Default: now." },
    outputOption("text", "json"),
  ],
  examples: [
    { command: "keyturn timeline -f binding.yaml --for 90d", what: "The next ninety days" },
    { command: "kubectl get servicebinding orders -o yaml | keyturn timeline -f -", what: "Of what is in a cluster" },
  ],
  run: runTimeline,
};

const DEFAULT_WIDTH = 80;

async function runTimeline(flags: Flags, world: World): Promise<ExitCode> {
  const format = readChoice(flags, "output", ["text", "json"]);
  const from = readInstant(flags, "from") ?? Math.floor(world.clock.now() / 1000) * 1000;
  const lengthMs = readDuration(flags, "for");
  const files = flags.texts("filename");
  if (files.length === 0) throw new UsageError("give the manifest with -f FILE");
  const drawn: { readonly manifest: Manifest; readonly timeline: Timeline }[] = [];
  for (const file of files) {
    for (const manifest of await readManifests(file, world)) {
      drawn.push({ manifest, timeline: timelineFor(manifest, from, lengthMs) });
    }
  }
  if (format === "json") {
    const items = drawn.map(({ manifest, timeline }) => timelineJson(manifest.object, timeline));
    world.stdout.write(`${JSON.stringify({ items }, null, 2)}\n`);
    return 0;
  }
  const paint = createPaint(world);
  const width = world.stdout.columns ?? DEFAULT_WIDTH;
  const texts = drawn.map(({ manifest, timeline }) =>
    timelineText(timeline, { title: titleOf(manifest), width, paint }),
  );
  world.stdout.write(texts.join("\n"));
  return 0;
}

function timelineFor(manifest: Manifest, from: number, lengthMs: number): Timeline {
  const { kind, object } = manifest;
  try {
    return timelineOf({ kind, object, spec: kind.readSpec(object), from, lengthMs });
  } catch (error) {
    throw error instanceof SpecProblem ? new SpecProblem(titleOf(manifest), error.message, error) : error;
  }
}

const titleOf = ({ object }: Manifest): string => `${object.kind} ${object.metadata.name}`;
