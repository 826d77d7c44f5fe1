import type { KubeObject } from "../../kube/objects.ts";
import type { ListResult } from "../object-api.ts";
import { StatusError } from "../status-error.ts";

/** Objects without spec, status or data: what a client gets that asks for `PartialObjectMetadata`. */
export const partialMetadata = (object: KubeObject, version: string): object => ({
  kind: "PartialObjectMetadata",
  apiVersion: `meta.k8s.io/${version}`,
  metadata: object.metadata,
});

export const partialMetadataList = (list: ListResult, version: string): object => ({
  kind: "PartialObjectMetadataList",
  apiVersion: `meta.k8s.io/${version}`,
  metadata: listMetadata(list),
  // Null and not an empty list, as the real server has it.
  items: list.items.length === 0 ? null : list.items.map((item) => partialMetadata(item, version)),
});

export const listMetadata = (list: ListResult): object => ({
  resourceVersion: list.resourceVersion,
  ...(list.continue !== undefined && { continue: list.continue }),
  ...(list.remainingItemCount !== undefined && { remainingItemCount: list.remainingItemCount }),
});

/** A list cannot be shown as one object's metadata, nor the other way round. */
export const wrongPartialForm = (asked: string, isList: boolean, kind: string): StatusError =>
  new StatusError(
    406,
    "NotAcceptable",
    `you requested ${asked}, but the requested object is ${isList ? "a list" : "not a list"} (${kind})`,
  );
