import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import {
  AccountRole,
  type Address,
  address,
  decompileTransactionMessage,
  getAddressDecoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
} from "@solana/kit";
import {
  findAssociatedTokenPda,
  parseCreateAssociatedTokenIdempotentInstruction,
  parseTransferCheckedInstruction,
} from "@solana-program/token";
import { solanaTokenPrograms } from "./token-account.ts";
import { encodeSolanaPayment } from "./transaction.ts";

/* Solana's own library checks the result: it decodes what our code encodes. */

const randomAddress = (): Address => getAddressDecoder().decode(randomBytes(32));

type Payment = Parameters<typeof encodeSolanaPayment>[0];
const createPayment = (overrides: Partial<Payment> = {}): Payment => ({
  payer: randomAddress(),
  recipient: randomAddress(),
  mint: randomAddress(),
  tokenProgram: "token",
  amount: 25_000_000n,
  decimals: 6,
  reference: randomAddress(),
  memo: "plink_01m7y4kb9sfvktcnzb0r3g9a0s",
  isOwnerReady: true,
  blockhash: randomAddress(),
  ...overrides,
});

const encodeAndDecode = (payment: Payment) => {
  const bytes = Buffer.from(encodeSolanaPayment(payment), "base64");
  const { messageBytes, signatures } = getTransactionDecoder().decode(bytes);
  const compiled = getCompiledTransactionMessageDecoder().decode(messageBytes);
  return { bytes, signatures, compiled, message: decompileTransactionMessage(compiled) };
};

/** The fields that the parsers need and that decompiled instructions always have. */
type DecodedInstruction = Parameters<typeof parseTransferCheckedInstruction>[0];

describe("encodeSolanaPayment (rule CHAIN-23)", () => {
  test.each(["token", "token-2022"] as const)(
    "for 100 random payments by the program %s each, produces what Solana's library decodes",
    async (tokenProgram) => {
      for (let round = 0; round < 100; round += 1) {
        const amount = randomBytes(8).readBigUInt64LE();
        const isOwnerReady = round % 2 === 0;
        const payment = createPayment({ tokenProgram, amount, isOwnerReady, decimals: round % 10 });
        const { bytes, signatures, message } = encodeAndDecode(payment);
        expect(bytes.length).toBeLessThan(1_232);
        expect(message.version).toBe(0);
        // The transaction is unsigned, and only the payer has to sign it.
        expect(signatures).toEqual({ [payment.payer]: null });
        expect(message.feePayer.address).toBe(payment.payer);
        expect(message.lifetimeConstraint).toMatchObject({ blockhash: payment.blockhash });
        const [transferInstruction, memo, createInstruction] = message.instructions.toReversed();
        const program = address(solanaTokenPrograms[tokenProgram]);
        const findTokenAccount = async (owner: string) =>
          (
            await findAssociatedTokenPda({
              owner: address(owner),
              mint: address(payment.mint),
              tokenProgram: program,
            })
          )[0];
        const [from, to] = [
          await findTokenAccount(payment.payer),
          await findTokenAccount(payment.recipient),
        ];
        expect(transferInstruction?.programAddress).toBe(program);
        const parsedTransfer = parseTransferCheckedInstruction(
          transferInstruction as DecodedInstruction,
        );
        expect(parsedTransfer.data).toMatchObject({ amount, decimals: payment.decimals });
        expect(parsedTransfer.accounts).toMatchObject({
          source: { address: from, role: AccountRole.WRITABLE },
          mint: { address: payment.mint, role: AccountRole.READONLY },
          destination: { address: to, role: AccountRole.WRITABLE },
          authority: { address: payment.payer, role: AccountRole.WRITABLE_SIGNER },
        });
        // Solana Pay: the reference account is read-only and not a signer.
        expect(transferInstruction?.accounts?.slice(4)).toEqual([
          { address: payment.reference, role: AccountRole.READONLY },
        ]);
        expect(memo?.programAddress).toBe("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
        expect(Buffer.from(memo?.data ?? []).toString()).toBe(payment.memo);
        expect(message.instructions).toHaveLength(isOwnerReady ? 2 : 3);
        if (isOwnerReady) continue;
        const parsedCreate = parseCreateAssociatedTokenIdempotentInstruction(
          createInstruction as DecodedInstruction,
        );
        expect(parsedCreate.accounts).toMatchObject({
          payer: { address: payment.payer },
          ata: { address: to, role: AccountRole.WRITABLE },
          owner: { address: payment.recipient },
          mint: { address: payment.mint },
          systemProgram: { address: "11111111111111111111111111111111" },
          tokenProgram: { address: program },
        });
      }
    },
  );

  test.each([
    ["an invalid blockhash", { blockhash: "0x12" }],
    ["a memo of 128 bytes", { memo: "x".repeat(128) }],
    ["an amount of more than 64 bits", { amount: 2n ** 64n }],
    ["a negative amount", { amount: -1n }],
  ])("throws for %s", (_name, overrides) => {
    expect(() => encodeSolanaPayment(createPayment(overrides))).toThrow(RangeError);
  });
});
