import { expect, test } from "@jest/globals";
import type { OwnAccount } from "../../api/operations.ts";
import {
  findPicturePath,
  getInitial,
  getProfileChanges,
  toProfileFields,
} from "./profile-fields.ts";

const account: OwnAccount = {
  id: "user_1",
  handle: "ada",
  username: "Ada",
  bio: "Tea",
  profileImage: null,
  backgroundImage: null,
  backgroundColour: "#102030",
  links: ["https://a.example", "https://b.example"],
  returnUrl: "https://shop.example/",
  dateCreated: "2026-11-21T10:00:00.000Z",
  isReady: true,
  isTestReady: false,
  testModeAvailable: true,
};

test("an unchanged profile has no changes", () => {
  expect(getProfileChanges(toProfileFields(account), account)).toEqual({});
});

test("only changed fields are sent, and emptied fields are cleared", () => {
  const changes = { bio: "", links: " \n", username: "Ada L", returnUrl: "" };
  expect(getProfileChanges({ ...toProfileFields(account), ...changes }, account)).toEqual({
    username: "Ada L",
    bio: null,
    links: null,
    returnUrl: null,
  });
});

test("each line is one link", () => {
  const fields = { ...toProfileFields(account), links: " https://c.example \n\nhttps://d.example" };
  expect(getProfileChanges(fields, account)).toEqual({
    links: ["https://c.example", "https://d.example"],
  });
});

test("the initial of a name is its first character in upper case", () => {
  expect([" ada", "Ärzte", "🍵 tea", ""].map(getInitial)).toEqual(["A", "Ä", "🍵", ""]);
});

test("an uploaded image is recognized by its path", () => {
  const path = `/checkout/pictures/${"0a".repeat(32)}`;
  expect(findPicturePath(`http://localhost:8080${path}`)).toBe(path);
  const otherUrls = ["", path, `https://a.example/b${path}`, `https://a.example${path}?c`];
  expect(otherUrls.map(findPicturePath)).toEqual([undefined, undefined, undefined, undefined]);
});
