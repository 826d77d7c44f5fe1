import type { ExitCode } from "../../command.ts";
import type { ClusterCall } from "../../open-cluster.ts";
import { createPaint } from "../../print/paint.ts";
import { reportReloader } from "./reloader-report.ts";
import { GENERAL_CHANGES, reloaderText, STEPS } from "./reloader-text.ts";

/** Reloader has no objects of its own: what its annotations mean is reported, and they go on meaning it. Writes nothing. */
export async function runReloader(
  { kube, world }: ClusterCall,
  within: string | undefined,
  format: "text" | "json",
): Promise<ExitCode> {
  const report = await reportReloader(kube, within);
  if (format === "json") {
    const { unseen: notLookedAt, ...rest } = report;
    world.stdout.write(`${JSON.stringify({ ...rest, notLookedAt, forAll: GENERAL_CHANGES, steps: STEPS }, null, 2)}\n`);
    return 0;
  }
  const width = world.stdout.columns ?? Number.POSITIVE_INFINITY;
  world.stdout.write(reloaderText(report, { paint: createPaint(world), width }));
  return 0;
}
