/**
 * References to container images, in the grammar of the distribution specification, in words that both JSON schemas and code
 * can use: a host with a dot, a port or capitals may come first, and what follows has no capitals.
 */
const HOST_PART = "[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?";
const HOST = `(${HOST_PART}([.]${HOST_PART})*|\\[[A-Fa-f0-9:]+\\])(:[0-9]+)?`;
const PATH_PART = "[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*";
const REPOSITORY = `(${HOST}/)?${PATH_PART}(/${PATH_PART})*`;
const TAG = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}";
const DIGEST = "[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}";

export const REPOSITORY_PATTERN = `^${REPOSITORY}$`;
/** Empty: that of the version. */
export const TAG_PATTERN = `^(${TAG})?$`;
const REFERENCE = new RegExp(`^(?<repository>${REPOSITORY})(:${TAG})?(@${DIGEST})?$`);
const MAX_REPOSITORY_LENGTH = 255;

export function isImageReference(text: string): boolean {
  const repository = REFERENCE.exec(text)?.groups?.repository;
  return repository !== undefined && repository.length <= MAX_REPOSITORY_LENGTH;
}
