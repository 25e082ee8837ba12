// Makes an empty database that belongs to a role of its own. That role may create roles and is no
// superuser: the least that migrations need.
import pg from "pg";

const own = new URL(process.env.MIGRATION_DATABASE_URL);
const database = own.pathname.slice(1);
const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
const role = client.escapeIdentifier(own.username);
const password = client.escapeLiteral(own.password);
await client.query(`CREATE ROLE ${role} LOGIN CREATEROLE PASSWORD ${password}`);
await client.query(`CREATE DATABASE ${client.escapeIdentifier(database)} OWNER ${role}`);
await client.end();
console.log(`made ${database}`);
