/** As package.json says to npm, which only warns. */
export const LEAST_NODE = 24;

/** Why this version of Node will not do; undefined where it will. */
export function nodeProblem(version: string): string | undefined {
  const major = Number.parseInt(version, 10);
  return major >= LEAST_NODE ? undefined : `this is Node ${version}, and ${LEAST_NODE} or newer is needed`;
}
