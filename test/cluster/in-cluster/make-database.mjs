// Creates an empty database with its own owner role. The role has CREATEROLE but is not a
// superuser. These are the minimum privileges that migrations need.
import pg from "pg";

const migrationUrl = new URL(process.env.MIGRATION_DATABASE_URL);
const database = migrationUrl.pathname.slice(1);
const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
const role = client.escapeIdentifier(migrationUrl.username);
const password = client.escapeLiteral(migrationUrl.password);
await client.query(`CREATE ROLE ${role} LOGIN CREATEROLE PASSWORD ${password}`);
await client.query(`CREATE DATABASE ${client.escapeIdentifier(database)} OWNER ${role}`);
await client.end();
console.log(`created ${database}`);
