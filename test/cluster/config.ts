import * as z from "zod";
import { CommaList } from "@payment-links/runtime";

/** The settings of the cluster's tests; addresses are as pods reach them. */
export const clusterConfig = z.object({
  /**
   * A role that may create roles and databases; it makes a database and roles for this run alone.
   */
  DATABASE_URL: z.url(),
  KAFKA_BROKERS: CommaList,
  KAFKA_REPLICATION_FACTOR: z.coerce.number().int().min(1).default(1),
  REDIS_URL: z.url(),
  /**
   * Where nodes pull the images from, and their tag; without a registry the nodes have them
   * already.
   */
  IMAGE_REGISTRY: z.string().default(""),
  IMAGE_TAG: z.string().default("1.0.0"),
  /** The tag of images with one more migration, made by `next-version/Dockerfile`. */
  NEXT_IMAGE_TAG: z.string().default(""),
  /** The last released chart, a folder or an archive, and the tag of its images. */
  LAST_CHART: z.string().default(""),
  LAST_IMAGE_TAG: z.string().default("1.0.0"),
  /**
   * The command that stops and starts the servers; `stop` or `start` and `postgres`, `kafka` or
   * `redis` are added to it.
   */
  SERVERS_COMMAND: z.string().default(""),
  NAMESPACE: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/)
    .default("payment-links-test"),
  /** Leaves the release in place when all is over. */
  KEEP: z.enum(["0", "1"]).default("0"),
});
export type ClusterConfig = z.output<typeof clusterConfig>;
