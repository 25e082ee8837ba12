import * as z from "zod";
import { CommaList } from "@payment-links/runtime";

/** The settings of the cluster tests. Addresses are those that pods can reach. */
export const clusterConfig = z.object({
  /**
   * A role that may create roles and databases. It creates a database and roles for this run only.
   */
  DATABASE_URL: z.url(),
  KAFKA_BROKERS: CommaList,
  KAFKA_REPLICATION_FACTOR: z.coerce.number().int().min(1).default(1),
  REDIS_URL: z.url(),
  /**
   * The registry from which nodes pull the images, and the images' tag. Without a registry, the
   * nodes must already have the images.
   */
  IMAGE_REGISTRY: z.string().default(""),
  IMAGE_TAG: z.string().default("1.0.0"),
  /** The tag of images with one additional migration, built by `next-version/Dockerfile`. */
  NEXT_IMAGE_TAG: z.string().default(""),
  /** The last released chart, as a folder or an archive, and the tag of its images. */
  LAST_CHART: z.string().default(""),
  LAST_IMAGE_TAG: z.string().default("1.0.0"),
  /**
   * The command that stops and starts the servers. The tests append `stop` or `start`, and
   * `postgres`, `kafka` or `redis`.
   */
  SERVERS_COMMAND: z.string().default(""),
  NAMESPACE: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/)
    .default("payment-links-test"),
  /** Keeps the release after the tests. */
  KEEP: z.enum(["0", "1"]).default("0"),
});
export type ClusterConfig = z.output<typeof clusterConfig>;
