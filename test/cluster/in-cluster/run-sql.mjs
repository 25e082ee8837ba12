// Runs the SQL from the environment variable SQL.
import pg from "pg";

const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
await client.query(String(process.env.SQL));
await client.end();
