import { type Figure, figure } from "./figures.ts";
import { isEvent, isWrite, type RequestCounts, sumOf } from "./request-counts.ts";

/**
 * What so many rotations, their deletions included, asked of the API server, for each of them. The audit log's anchor is
 * written every ten seconds in which anything was done, for all of it together, and is told apart.
 */
export function kubeFigures(
  { kube, anchors, count }: { readonly kube: RequestCounts; readonly anchors: number; readonly count: number },
  { mostWrites }: { readonly mostWrites?: number },
): readonly Figure[] {
  const reads = sumOf(kube, (key) => key.startsWith("GET ") || key.startsWith("LIST "));
  const [writes, events] = [(sumOf(kube, isWrite) - anchors) / count, sumOf(kube, isEvent) / count];
  const of = "per rotation and deletion:";
  return [
    figure(`${of} Kubernetes writes`, writes, mostWrites === undefined ? undefined : `<= ${mostWrites}`),
    figure(`${of} events among them`, events, mostWrites === undefined ? undefined : "<= 2"),
    figure(`${of} Kubernetes reads`, reads / count),
    figure("anchors of the audit log, for all of them", anchors),
  ];
}
