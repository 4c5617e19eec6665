// Follows published folders with a public key and prints the results, in any engine. test_signed.py makes the folders.

const KEYS = ['user1', 'new1', 'mallory'];

async function outcome(what) {
  try {
    return await what();
  } catch (error) {
    return `${error.name} ${error.code}: ${error.message}`;
  }
}

/**
 * For each folder at the URL: what opening it says, and what a refresh from the folder `from` says and leaves. To the package
 * each of them is at pub/.
 */
export async function outcomes(follow, url, publicKey, folders, from) {
  let folder;
  const fetch = (address, options) => globalThis.fetch(String(address).replace('/pub/', `/${folder}/`), options);
  const open = () => follow(`${url}/pub/`, {publicKey, fetch});
  const stateOf = (list) => ({sequence: list.sequence, comment: list.trustedComment, answers: list.hasMany(KEYS)});
  const all = {};
  for (const each of folders) {
    folder = each;
    const opened = await outcome(async () => stateOf(await open()));
    folder = from;
    const list = await open();
    folder = each;
    const refreshed = await outcome(async () => (await list.refresh()).sequence);
    all[each] = {opened, refreshed, after: stateOf(list)};
  }
  return all;
}
