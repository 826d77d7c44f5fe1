import assert from "node:assert/strict";
import { test } from "node:test";
import { holdToDifference } from "./exceptions.ts";

const exception = { server: "embedded", behaviour: "group: name", reason: "it is so" } as const;

test("an exception is satisfied by a behaviour that fails", async () => {
  await holdToDifference(exception, Promise.reject(new Error("differs")));
});

test("an exception whose behaviour holds is itself a failure, and says which entry to take away", async () => {
  await assert.rejects(holdToDifference(exception, Promise.resolve()), /no longer differs \("it is so"\): take/);
});
