import { expect, test } from "@jest/globals";
import { ApiError } from "./api-error.ts";
import { LostSecretError, createDuplicateGuard } from "./duplicate-guard.ts";

const lostResponseError = new ApiError(0, []);

const createTestStore = () => {
  const items: { id: string; name: string }[] = [];
  const duplicateGuard = createDuplicateGuard();
  const addItem = async (name: string, error?: Error): Promise<string> => {
    items.push({ id: String(items.length), name });
    if (error !== undefined) throw error;
    return `secret of ${name}`;
  };
  return {
    items,
    addItem,
    createItem: (name: string, create: () => Promise<string> = () => addItem(name)) =>
      duplicateGuard({ name, list: async () => items, create }),
  };
};

test("does not create a second item after a lost response until the first one is deleted", async () => {
  const { addItem, createItem, items } = createTestStore();
  await addItem("shop");
  await expect(createItem("shop", () => addItem("shop", lostResponseError))).rejects.toBe(
    lostResponseError,
  );
  await expect(createItem("shop ")).rejects.toThrow(LostSecretError);
  await expect(createItem("shop")).rejects.toThrow(LostSecretError);
  expect(items).toHaveLength(2);
  items.pop();
  expect(await createItem("shop")).toBe("secret of shop");
});

test("creates the item after lost responses if no earlier try created it", async () => {
  const { createItem, items } = createTestStore();
  for (const error of [lostResponseError, new ApiError(503, [])]) {
    await expect(createItem("shop", () => Promise.reject(error))).rejects.toBe(error);
  }
  expect(await createItem("shop")).toBe("secret of shop");
  expect(await createItem("shop")).toBe("secret of shop");
  expect(items).toHaveLength(2);
});

test("allows another item with the same name after a rejected try", async () => {
  const { addItem, createItem } = createTestStore();
  const rejectionError = new ApiError(422, []);
  await expect(createItem("shop", () => Promise.reject(rejectionError))).rejects.toBe(
    rejectionError,
  );
  await addItem("shop");
  expect(await createItem("shop")).toBe("secret of shop");
});
