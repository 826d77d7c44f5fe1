import assert from "node:assert/strict";
import { test } from "node:test";
import { unrestartedWords } from "./unrestarted.ts";

const user = (name: string, hasOptedIn?: boolean) => ({
  kind: "Deployment",
  name,
  ...(hasOptedIn !== undefined && { hasOptedIn }),
});

test("whoever is not restarted for a new key is named before it is asked for", () => {
  const [stays, moves, unknown] = [user("a", false), user("b", true), user("c")];
  assert.equal(unrestartedWords([moves, unknown], "rotate"), undefined, "nobody stays");
  assert.equal(unrestartedWords([stays], "freeze"), undefined, "nothing is made");
  assert.match(
    unrestartedWords([stays, moves], "compromised") ?? "",
    /: Deployment a; each is locked out when the key/,
  );
  const many = Array.from({ length: 7 }, (_, index) => user(`d${index}`, false));
  assert.match(unrestartedWords(many, "rotate") ?? "", /Deployment d4 and 2 more; each is locked out/);
});
