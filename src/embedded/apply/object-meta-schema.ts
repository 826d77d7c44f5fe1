import type { Schema } from "../schema/schema.ts";

const text: Schema = { type: "string" };
const texts: Schema = { type: "object", additionalProperties: text };
const time: Schema = { type: "string", format: "date-time" };
const whole: Schema = { type: "integer", format: "int64" };

/** The fields that every object has, with what ownership needs to know of them. */
export const OBJECT_META: Schema = {
  type: "object",
  properties: {
    apiVersion: text,
    kind: text,
    metadata: {
      type: "object",
      default: {},
      properties: {
        name: text,
        generateName: text,
        namespace: text,
        selfLink: text,
        uid: text,
        resourceVersion: text,
        generation: whole,
        creationTimestamp: time,
        deletionTimestamp: time,
        deletionGracePeriodSeconds: whole,
        labels: texts,
        annotations: texts,
        ownerReferences: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["uid"],
          items: {
            type: "object",
            "x-kubernetes-map-type": "atomic",
            properties: {
              apiVersion: text,
              kind: text,
              name: text,
              uid: { type: "string", default: "" },
              controller: { type: "boolean" },
              blockOwnerDeletion: { type: "boolean" },
            },
          },
        },
        finalizers: { type: "array", "x-kubernetes-list-type": "set", items: text },
        managedFields: { type: "array", "x-kubernetes-list-type": "atomic", items: { type: "object" } },
      },
    },
  },
};
