import { expect, test } from "@jest/globals";
import { ApiError } from "./api-error.ts";
import { MadeUnseenError, createMaker } from "./make-once.ts";

const lost = new ApiError(0, []);

const openShelf = () => {
  const things: { id: string; name: string }[] = [];
  const maker = createMaker();
  const add = async (name: string, failure?: Error): Promise<string> => {
    things.push({ id: String(things.length), name });
    if (failure !== undefined) throw failure;
    return `secret of ${name}`;
  };
  return {
    things,
    add,
    make: (name: string, make: () => Promise<string> = () => add(name)) =>
      maker({ name, list: async () => things, make }),
  };
};

test("what a try made whose answer was lost is not made again until that one is gone", async () => {
  const { add, make, things } = openShelf();
  await add("shop");
  await expect(make("shop", () => add("shop", lost))).rejects.toBe(lost);
  await expect(make("shop ")).rejects.toThrow(MadeUnseenError);
  await expect(make("shop")).rejects.toThrow(MadeUnseenError);
  expect(things).toHaveLength(2);
  things.pop();
  expect(await make("shop")).toBe("secret of shop");
});

test("what a try did not make is made by the next one, however often answers were lost", async () => {
  const { make, things } = openShelf();
  for (const failure of [lost, new ApiError(503, [])]) {
    await expect(make("shop", () => Promise.reject(failure))).rejects.toBe(failure);
  }
  expect(await make("shop")).toBe("secret of shop");
  expect(await make("shop")).toBe("secret of shop");
  expect(things).toHaveLength(2);
});

test("what was refused was not made: the next one of the same name is another", async () => {
  const { add, make } = openShelf();
  const refusal = new ApiError(422, []);
  await expect(make("shop", () => Promise.reject(refusal))).rejects.toBe(refusal);
  await add("shop");
  expect(await make("shop")).toBe("secret of shop");
});
