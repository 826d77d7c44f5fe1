import { type Figure, figure } from "./figures.ts";
import { isEvent, isWrite, type RequestCounts, sumOf } from "./request-counts.ts";

/** What so many rotations, their deletions included, asked of the API server, for each of them. */
export function kubeFigures(
  kube: RequestCounts,
  count: number,
  { mostWrites }: { readonly mostWrites?: number },
): readonly Figure[] {
  const reads = sumOf(kube, (key) => key.startsWith("GET ") || key.startsWith("LIST "));
  const [writes, events] = [sumOf(kube, isWrite) / count, sumOf(kube, isEvent) / count];
  const of = "per rotation and deletion:";
  return [
    figure(`${of} Kubernetes writes`, writes, mostWrites === undefined ? undefined : `<= ${mostWrites}`),
    figure(`${of} events among them`, events, mostWrites === undefined ? undefined : "<= 2"),
    figure(`${of} Kubernetes reads`, reads / count),
  ];
}
