package bloomset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

type vectorRow struct {
	Name, Kind, Hash, Seed, Answers string
	Capacity, Count                 uint64
	Labels                          map[string]string
	Secret                          bool
	Bytes                           []byte
}

type vectorFile struct {
	Secret string
	Keys   []string
	Hashes struct {
		Seed   string
		Values []string
	}
	Filters          []vectorRow
	KeysInPartitions []string    `json:"keys_in_partitions"`
	WithPartitions   []vectorRow `json:"filters_with_partitions"`
	BuiltKeys        struct {
		Prefix       string
		Count, Times int
	} `json:"built_keys"`
	Builds []struct {
		Request map[string]any
		Size    int
		SHA256  string `json:"sha256"`
	}
	Refused []struct {
		Name  string
		Bytes []byte
	}
}

// The vectors that all languages share (tests/languages/vectors.json).
func readVectors(t *testing.T) (all vectorFile, keys []string, secret Key) {
	t.Helper()
	path := os.Getenv("BLOOMSET_VECTORS")
	if path == "" {
		t.Skip("BLOOMSET_VECTORS does not name tests/languages/vectors.json")
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	keys = decoded(all.Keys)
	bytes, _ := hex.DecodeString(all.Secret)
	copy(secret[:], bytes)
	return all, keys, secret
}

func decoded(all []string) []string {
	var keys []string
	for _, digits := range all {
		key, _ := hex.DecodeString(digits)
		keys = append(keys, string(key))
	}
	return keys
}

func answersOf(answers []bool) string {
	var text strings.Builder
	for _, answer := range answers {
		text.WriteByte(map[bool]byte{false: '0', true: '1'}[answer])
	}
	return text.String()
}

func TestVectors(t *testing.T) {
	all, keys, secret := readVectors(t)
	keysInPartitions := decoded(all.KeysInPartitions)
	for i, row := range append(all.Filters, all.WithPartitions...) {
		keys := keys
		if i >= len(all.Filters) {
			keys = keysInPartitions
		}
		t.Run(row.Name, func(t *testing.T) {
			var how []Option
			if row.Secret {
				if _, err := Parse(row.Bytes); !isCode(err, InvalidArgument) {
					t.Errorf("without its key: %v", err)
				}
				how = append(how, WithKey(secret))
			}
			for _, how := range [][]Option{how, append(how, Writable())} {
				filter, err := Parse(row.Bytes, how...)
				if err != nil {
					t.Fatal(err)
				}
				defer filter.Close()
				isMember, isCovered := filter.ContainsMany(keys), filter.CoversMany(keys)
				for i, key := range keys {
					member, covered := row.Answers[i] == '1', row.Answers[i] != '?'
					if isMember[i] != member || isCovered[i] != covered {
						t.Errorf("in a batch: key %q", key)
					}
					if filter.Contains(key) != member || filter.Covers(key) != covered {
						t.Errorf("alone: key %q", key)
					}
				}
				if written, err := filter.Bytes(); err != nil || string(written) != string(row.Bytes) {
					t.Errorf("written again: %v", err)
				}
			}
			info, err := ParseInfo(row.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			if info.Kind != row.Kind || info.Capacity != row.Capacity || info.Count != row.Count || info.Hash != row.Hash ||
				fmt.Sprint(info.Seed) != row.Seed || fmt.Sprint(info.Labels) != fmt.Sprint(row.Labels) {
				t.Errorf("%+v", info)
			}
		})
	}
}

func TestHashes(t *testing.T) {
	all, keys, _ := readVectors(t)
	filter, err := New(Request{Kind: "bloom", Capacity: 10})
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		if hash, err := filter.Hash(key); err != nil || fmt.Sprint(hash) != all.Hashes.Values[i] {
			t.Errorf("%q: %d, %v", key, hash, err)
		}
	}
}

func TestTheFilesOfTheCommandLine(t *testing.T) {
	all, _, _ := readVectors(t)
	var keys []string
	for i := 0; i < all.BuiltKeys.Count*all.BuiltKeys.Times; i++ {
		keys = append(keys, fmt.Sprintf("%s%d", all.BuiltKeys.Prefix, i%all.BuiltKeys.Count))
	}
	for _, row := range all.Builds {
		// Rates and sizes are text in the vectors, and numbers in Go.
		request := Request{Options: map[string]string{}}
		for name, value := range row.Request {
			request.Options[name] = fmt.Sprint(value)
		}
		filter, err := Build(keys, request)
		if err != nil {
			t.Errorf("%v: %v", row.Request, err)
			continue
		}
		file, _ := filter.Bytes()
		if sum := sha256.Sum256(file); len(file) != row.Size || hex.EncodeToString(sum[:]) != row.SHA256 {
			t.Errorf("%v: another file of %d bytes", row.Request, len(file))
		}
		filter.Close()
	}
}

func TestRefused(t *testing.T) {
	all, _, _ := readVectors(t)
	for _, row := range all.Refused {
		_, err := Parse(row.Bytes)
		if err == nil || !strings.HasPrefix(err.Error(), "the bytes: ") || !strings.Contains(err.Error(), "; ") {
			t.Errorf("%s: %v", row.Name, err)
		}
	}
}

func isCode(err error, code Code) bool {
	var failure *Error
	return errors.As(err, &failure) && failure.Code == code
}

func users(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("user%d", i)
	}
	return keys
}

func TestAFileIsOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users.bloom")
	built, err := Build(users(1000), Request{FPR: 1e-6, Labels: map[string]string{"source": "example.org"}})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := built.WriteTo(file); err != nil {
		t.Fatal(err)
	}
	file.Close()
	filter, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if !filter.Contains("user7") || filter.Contains("mallory") || !filter.ContainsBytes([]byte("user999")) {
		t.Error("wrong answers")
	}
	if info, err := filter.Info(); err != nil || info.Labels["source"] != "example.org" || info.Kind != "blocked_bloom" {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := filter.Insert("x"); !isCode(err, Unsupported) {
		t.Errorf("a filter that is not writable: %v", err)
	}
	filter.Close()
	if _, err := filter.Insert("x"); !isCode(err, InvalidArgument) {
		t.Errorf("a closed filter: %v", err)
	}
	if _, err := Open(path + ".missing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	os.WriteFile(path, []byte("a text"), 0o600)
	if _, err := Open(path); !isCode(err, Corrupt) || !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("a text: %v", err)
	}
}

func TestKeysOfEveryLength(t *testing.T) {
	var keys []string
	for _, n := range []int{0, 1, 40, 1000, batchBytes - 1, batchBytes, batchBytes + 1, 1_000_000, 5} {
		keys = append(keys, strings.Repeat("x", n), strings.Repeat("é", n/2))
	}
	keys = append(keys, users(10_000)...)
	filter, err := Build(keys, Request{FPR: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(answersOf(filter.ContainsMany(keys)), "0") {
		t.Error("a key is missing in a batch")
	}
	for _, key := range keys[:30] {
		if !filter.Contains(key) {
			t.Errorf("a key of %d bytes is missing", len(key))
		}
	}
	if IntegerKey(-1) != "\xff\xff\xff\xff\xff\xff\xff\xff" || IntegerKey(uint8(5)) != "\x05\x00\x00\x00\x00\x00\x00\x00" {
		t.Error("integers are other keys")
	}
}

func TestChanges(t *testing.T) {
	filter, err := New(Request{Kind: "vector_quotient", Capacity: 100})
	if err != nil {
		t.Fatal(err)
	}
	if isNew, err := filter.Insert("ann"); !isNew || err != nil {
		t.Error(isNew, err)
	}
	if n, err := filter.InsertMany([]string{"ann", "bob"}); n != 1 || err != nil {
		t.Error(n, err)
	}
	if counts, err := filter.CountMany([]string{"ann", "bob", "cid"}); fmt.Sprint(counts) != "[2 1 0]" || err != nil {
		t.Error(counts, err)
	}
	if n, err := filter.EraseMany([]string{"bob", "cid"}); n != 1 || err != nil {
		t.Error(n, err)
	}
	if was, err := filter.Erase("bob"); was || err != nil {
		t.Error(was, err)
	}
	if err := filter.Clear(); err != nil || filter.Contains("ann") {
		t.Error(err)
	}
	small, _ := New(Request{Kind: "cuckoo", Capacity: 8})
	_, err = small.InsertMany(users(1000))
	var full *Error
	if !errors.As(err, &full) || full.Code != Full || full.Contained < 8 || full.Contained > 100 {
		t.Fatal(err)
	}
	for _, key := range users(full.Contained) {
		if !small.Contains(key) {
			t.Error(key)
		}
	}
	if _, err := New(Request{Capacity: 1e10}); !isCode(err, OutOfMemory) {
		t.Error(err)
	}
	if _, err := New(Request{Kind: "blom", Capacity: 10}); !isCode(err, InvalidArgument) {
		t.Error(err)
	}
}

func TestSets(t *testing.T) {
	request := Request{Capacity: 2000, FPR: 1e-6}
	monday, _ := Build(users(600), request)
	tuesday, _ := Build(users(1000)[400:], request)
	both, _ := Build(users(600), request)
	if err := both.Intersect(tuesday); err != nil || both.Contains("user1") || !both.Contains("user500") {
		t.Error(err)
	}
	if err := monday.Merge(tuesday); err != nil || !monday.Contains("user1") || !monday.Contains("user999") {
		t.Error(err)
	}
	other, _ := New(Request{Kind: "cuckoo", Capacity: 10})
	if err := monday.Merge(other); !isCode(err, Incompatible) {
		t.Error(err)
	}
	exact, err := BuildExact(users(10), users(1000), Request{})
	if err != nil || strings.Count(answersOf(exact.ContainsMany(users(1000))), "1") != 10 {
		t.Error(err)
	}
	loose, _ := Build(users(1000), Request{FPR: 0.1})
	others := users(2000)[1000:]
	passed := strings.Count(answersOf(loose.ContainsMany(others)), "1")
	var mistaken []string
	for _, key := range others {
		if loose.Contains(key) {
			mistaken = append(mistaken, key)
		}
	}
	if n, err := loose.AddExceptions(mistaken); err != nil || n != passed || n < 50 ||
		strings.Contains(answersOf(loose.ContainsMany(others)), "1") {
		t.Error(n, err)
	}
	if n, err := loose.RemoveExceptions(mistaken[:1]); err != nil || n != 1 || !loose.Contains(mistaken[0]) {
		t.Error(n, err)
	}
}

func TestSecretKeys(t *testing.T) {
	key, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	filter, err := Build(users(100), Request{Kind: "fuse", Key: &key})
	if err != nil {
		t.Fatal(err)
	}
	file, _ := filter.Bytes()
	if again, err := Parse(file, WithKey(key)); err != nil || !again.Contains("user7") {
		t.Error(err)
	}
	if _, err := Parse(file, WithKey(Key{})); !isCode(err, InvalidArgument) {
		t.Error(err)
	}
}

func TestGoroutines(t *testing.T) {
	filter, err := New(Request{Capacity: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for part := 0; part < 4; part++ {
		group.Add(1)
		go func() {
			defer group.Done()
			keys := make([]string, 2000)
			for i := range keys {
				keys[i] = fmt.Sprintf("%d-%d", part, i)
			}
			if _, err := filter.InsertMany(keys); err != nil {
				t.Error(err)
			}
			if strings.Contains(answersOf(filter.ContainsMany(keys)), "0") || !filter.Contains(keys[0]) {
				t.Error("a key is missing")
			}
		}()
	}
	group.Wait()
}

func Example() {
	words, err := Build([]string{"ann", "bob"}, Request{FPR: 0.001})
	if err != nil {
		panic(err)
	}
	defer words.Close()
	fmt.Println(words.Contains("ann"), words.Contains("cid"))
	// Output: true false
}

// A million keys such as user7@example.com, half of them members.
func benchmarkFilter(b *testing.B) (*Filter, []string) {
	keys := make([]string, 1_000_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("user%d@example.com", i)
	}
	filter, err := Build(keys[:len(keys)/2], Request{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { filter.Close() })
	b.ResetTimer()
	return filter, keys
}

func BenchmarkContains(b *testing.B) {
	filter, keys := benchmarkFilter(b)
	for i := 0; i < b.N; i++ {
		filter.Contains(keys[i%len(keys)])
	}
}

func BenchmarkContainsMany(b *testing.B) {
	filter, keys := benchmarkFilter(b)
	for i := 0; i < b.N; i += len(keys) {
		filter.ContainsMany(keys)
	}
}
