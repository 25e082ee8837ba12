import { expect, test } from "@jest/globals";
import { groupAddress } from "./group-address.ts";

test("an address is split into groups of four characters, and no character is lost", () => {
  expect(groupAddress("0xa0Cf798816D4b9b9866b5330EEa46a18382f251e").join(" ")).toBe(
    "0x a0Cf 7988 16D4 b9b9 866b 5330 EEa4 6a18 382f 251e",
  );
  expect(groupAddress("TJRabPrwbZy45sbavfcjinPJC18kjpRTv8").at(-1)).toBe("v8");
  for (const address of ["", "0x", "zpub6rFR7y4Q2AijBEqTUq", "wpkh([d34db33f/84h]\n🙂)"])
    expect(groupAddress(address).join("")).toBe(address);
});
