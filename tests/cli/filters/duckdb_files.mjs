// Writes a Parquet file with DuckDB and prints, as JSON, what DuckDB itself says of values in it:
//   node duckdb_files.mjs FOLDER_WITH_NODE_MODULES FILE
import { createRequire } from 'node:module';

const [folder, file] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(`${folder}/`)('@duckdb/node-api');
const connection = await (await DuckDBInstance.create(':memory:')).connect();

// A filter is written for chunks that are encoded by a dictionary. Three row groups; the values of
// each differ, and the last group's filters are larger.
await connection.run(`
  COPY (SELECT 'word' || v AS s, v::INT - 100 AS i, v * 1000000007 AS l, v / 8.0 AS d,
               (v / 4.0)::FLOAT AS f, DATE '2020-01-01' + v::INT AS t, {'inner': 'in' || v} AS n,
               'plain' AS constant
        FROM (SELECT CASE WHEN range < 40000 THEN range % 1000 ELSE 5000 + range % 6000 END AS v
              FROM range(60000)))
  TO '${file}' (FORMAT parquet, ROW_GROUP_SIZE 20000, DICTIONARY_SIZE_LIMIT 30000,
                BLOOM_FILTER_FALSE_POSITIVE_RATIO 0.01)`);

// Beside it, a column of each type whose values are not stored as they are written, and a file
// without rows.
await connection.run(`
  COPY (SELECT (4000000000 + v)::UINTEGER AS u4, 18446744073709550000::UBIGINT + v::UBIGINT AS u8,
               (v / 100)::DECIMAL(9,2) AS dec4, (v / 100 - 3)::DECIMAL(18,4) AS dec8,
               DATE '2020-01-01' + v::INT AS day, TIMESTAMP '2020-01-01' + to_seconds(v) AS ts,
               TIME '00:00:00' + to_seconds(v) AS tm, to_seconds(v) AS iv,
               ('00000000-0000-4000-8000-00000000000' || v)::UUID AS id
        FROM (SELECT range % 10 AS v FROM range(1000)))
  TO '${file}.typed' (FORMAT parquet)`);
await connection.run(`
  COPY (SELECT 1::INT AS i, 'x' AS s WHERE false) TO '${file}.empty' (FORMAT parquet)`);

// One column at two rates.
for (const [name, rate] of [['coarse', 0.01], ['fine', 0.0001]]) {
  await connection.run(`
    COPY (SELECT 'word' || (range % 1000) AS w FROM range(20000)) TO '${file}.${name}'
    (FORMAT parquet, BLOOM_FILTER_FALSE_POSITIVE_RATIO ${rate})`);
}

const rows = async (sql) => (await connection.runAndReadAll(sql)).getRowsJson();
const chunks = (await rows(`
  SELECT path_in_schema, row_group_id, bloom_filter_offset, bloom_filter_length
  FROM parquet_metadata('${file}') WHERE bloom_filter_offset IS NOT NULL`))
  .map(([path, group, offset, length]) =>
    ({ path: path.replaceAll(', ', '.'), group: Number(group), offset: Number(offset), length: Number(length) }));

// [column, the key as text, the value in SQL]
const values = [];
for (const v of [0, 1, 999, 5000, 10999, ...Array.from({ length: 150 }, (_, n) => 20000 + n * 17)]) {
  values.push(['s', `word${v}`, `'word${v}'`]);
  values.push(['i', `${v - 100}`, `${v - 100}::INT`]);
  values.push(['l', `${v * 1000000007}`, `${v * 1000000007}::BIGINT`]);
  values.push(['d', `${v / 8}`, `${v / 8}::DOUBLE`]);
  values.push(['f', `${v / 4}`, `${v / 4}::FLOAT`]);
  values.push(['t', `${18262 + v}`, `DATE '2020-01-01' + ${v}`]);  // days since 1970-01-01
}
const probes = [];
for (const [column, key, value] of values) {
  const answers = await rows(`SELECT bloom_filter_excludes FROM parquet_bloom_probe('${file}', '${column}', ${value})`);
  probes.push({ column, key, excluded: answers.every(([excludes]) => excludes) });
}
console.log(JSON.stringify({ chunks, probes }));
