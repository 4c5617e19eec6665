// Package bloomset opens, queries, builds and changes Bloom filters and their relatives, in the files of Bloomset's command
// line, C++, Python and JavaScript, with the same answers. It needs no C compiler: the library is a WebAssembly module,
// which wazero compiles to machine code when the first filter is opened or made.
//
//	members, err := bloomset.Open("members.bloom")
//	if err != nil {
//		return err
//	}
//	defer members.Close()
//	if members.Contains("alice@example.com") {
//		// perhaps a member; false is certain
//	}
//
// A key is a string of any bytes. Integers have keys of eight bytes: see [IntegerKey].
package bloomset

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sort"
	"strconv"
	"sync"
)

// Code is the class of a failure, for programs.
type Code int

const (
	InvalidArgument Code = iota + 1 // a parameter is out of its range, or parameters contradict each other
	NotFound
	Exists
	Corrupt      // the bytes do not match their checksum or their own lengths
	Unsupported  // a newer version, an unknown kind, or an ability that this kind lacks
	Incompatible // two filters that cannot be combined
	Full         // no room for the key
	IO
	OutOfMemory
)

// Error is a failure. Its message is one sentence: what was wrong, where, and what to do.
type Error struct {
	Code    Code
	Message string
	// Contained is, for Code Full, how many of the keys of the call are in the filter: the first ones.
	Contained int
}

func (e *Error) Error() string { return e.Message }

// Key is a secret key. Only those who know it can choose keys that pass as members.
type Key [16]byte

// NewKey draws a secret key at random.
func NewKey() (Key, error) {
	var key Key
	_, err := rand.Read(key[:])
	return key, err
}

// IntegerKey is the key of a whole number, in every program with Bloomset: its eight little-endian bytes.
func IntegerKey[N ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64](n N) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(n)))
}

// Request describes a filter that is to be made. Two of Capacity, FPR and Memory or Bits give the third. The default rate
// is 1%.
type Request struct {
	Kind     string            // "bloom", "ribbon", and so on; blocked_bloom if empty
	Capacity uint64            // keys to plan for
	FPR      float64           // rate of false positives at capacity
	Memory   uint64            // size in bytes
	Bits     uint64            // size in bits
	Hashes   int               // number of hash functions
	Seed     uint64            // makes filters differ; it is not a secret
	Key      *Key              // nil, or a secret key
	Hash     string            // "xxh3-2x64" or "siphash-2x64" requests 128-bit hashes
	Options  map[string]string // the kind's own
	Labels   map[string]string // facts that go into the file, such as the source of the keys
}

func (r Request) texts() []string {
	var texts []string
	add := func(name, value string, isGiven bool) {
		if isGiven {
			texts = append(texts, name, value)
		}
	}
	add("kind", r.Kind, r.Kind != "")
	add("capacity", strconv.FormatUint(r.Capacity, 10), r.Capacity != 0)
	add("fpr", strconv.FormatFloat(r.FPR, 'g', -1, 64), r.FPR != 0)
	add("memory", strconv.FormatUint(r.Memory, 10), r.Memory != 0)
	add("bits", strconv.FormatUint(r.Bits, 10), r.Bits != 0)
	add("hashes", strconv.Itoa(r.Hashes), r.Hashes != 0)
	add("seed", strconv.FormatUint(r.Seed, 10), r.Seed != 0)
	add("hash", r.Hash, r.Hash != "")
	return append(texts, pairs(r.Options)...)
}

// Names and values, sorted by name.
func pairs(values map[string]string) []string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	sort.Strings(names)
	texts := make([]string, 0, 2*len(names))
	for _, name := range names {
		texts = append(texts, name, values[name])
	}
	return texts
}

func (k *Key) bytes() []byte {
	if k == nil {
		return nil
	}
	return k[:]
}

// Filter is a filter of any kind. What its kind cannot do fails with code Unsupported. Any number of goroutines may use it:
// calls take turns.
type Filter struct {
	mutex    sync.Mutex
	instance *instance
}

// An Option of Open and Parse.
type Option func(*options)

type options struct {
	key      *Key
	writable bool
}

// WithKey opens a filter that was made with this secret key.
func WithKey(key Key) Option { return func(o *options) { o.key = &key } }

// Writable opens a filter in memory of its own, where it can be changed.
func Writable() Option { return func(o *options) { o.writable = true } }

// Open reads a filter file of any kind.
func Open(path string, how ...Option) (*Filter, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(data, path, how)
}

// Parse opens the filter in the bytes of a file, which it copies.
func Parse(data []byte, how ...Option) (*Filter, error) { return parse(data, "the bytes", how) }

func parse(data []byte, name string, how []Option) (*Filter, error) {
	var wanted options
	for _, set := range how {
		set(&wanted)
	}
	return made(func(in *instance) error {
		at, err := in.alloc(len(data))
		if err != nil {
			return err
		}
		in.memory.Write(at, data)
		var writable uint64
		if wanted.writable {
			writable = 1
		}
		err = in.lend(wanted.key.bytes(), func(key uint64) error {
			return in.run(name, "bloomset_open", uint64(at), uint64(len(data)), writable, key)
		})
		if err == nil && wanted.writable {
			_, err = in.call("bloomset_free", uint64(at))
		}
		return err
	})
}

// The filter that the work leaves in a new instance.
func made(work func(in *instance) error) (*Filter, error) {
	in, err := newInstance()
	if err != nil {
		return nil, err
	}
	if err := work(in); err != nil {
		in.close()
		return nil, err
	}
	filter := &Filter{instance: in}
	runtime.SetFinalizer(filter, (*Filter).Close)
	return filter, nil
}

// New makes an empty filter, to insert keys into.
func New(request Request) (*Filter, error) {
	filter, err := made(func(in *instance) error { return in.request("bloomset_create", request) })
	return filter.labelled(request, err)
}

// Build makes a filter of these keys, planned for their number unless the request has a capacity or a size.
func Build(keys []string, request Request) (*Filter, error) { return build(keys, nil, request) }

// BuildExact makes a filter of kind exact, without errors among members and others.
func BuildExact(members, others []string, request Request) (*Filter, error) {
	request.Kind = "exact"
	return build(members, others, request)
}

func build(members, others []string, request Request) (*Filter, error) {
	filter, err := made(func(in *instance) error {
		if err := in.request("bloomset_begin_build", request); err != nil {
			return err
		}
		for areOthers, keys := range [][]string{members, others} {
			err := in.batches(len(keys), func(i int) string { return keys[i] }, func(_ int, values []uint64) error {
				return in.run("", "bloomset_collect", append(values, uint64(areOthers))...)
			})
			if err != nil {
				return err
			}
		}
		return in.run("", "bloomset_end_build")
	})
	return filter.labelled(request, err)
}

func (f *Filter) labelled(request Request, err error) (*Filter, error) {
	if err == nil && request.Labels != nil {
		err = f.SetLabels(request.Labels)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (in *instance) request(call string, request Request) error {
	return in.withTexts(request.texts(), func(fields []uint64) error {
		return in.lend(request.Key.bytes(), func(key uint64) error { return in.run("", call, append(fields, key)...) })
	})
}

// Close releases the filter's memory. The filter cannot be used afterwards.
func (f *Filter) Close() error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	runtime.SetFinalizer(f, nil)
	f.instance.close()
	return nil
}

// Contains tells whether the key may be a member. False is certain, except for keys without an answer: see [Filter.Covers].
// It panics if the filter is closed.
func (f *Filter) Contains(key string) bool { return f.ContainsBytes([]byte(key)) }

// ContainsBytes is Contains for a key in a slice.
func (f *Filter) ContainsBytes(key []byte) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	answer, err := f.instance.contains(key)
	if err != nil {
		panic(fmt.Sprintf("bloomset: %v", err))
	}
	return answer
}

// ContainsMany answers many keys, which is faster. It panics if the filter is closed.
func (f *Filter) ContainsMany(keys []string) []bool {
	return f.answers("bloomset_may_contain_many", keys)
}

// Covers tells whether the filter has an answer for the key. False only in a filter of kind exact with partitions, for a
// key whose partition it does not have: the bytes of the key before its first tab. Contains is then false and means
// nothing. It panics if the filter is closed.
func (f *Filter) Covers(key string) bool { return f.CoversMany([]string{key})[0] }

// CoversMany is Covers for many keys.
func (f *Filter) CoversMany(keys []string) []bool { return f.answers("bloomset_covers_many", keys) }

// The answers of a call that writes a byte for each key.
func (f *Filter) answers(name string, keys []string) []bool {
	answers := make([]bool, len(keys))
	err := f.batches(keys, func(first int, values []uint64) error {
		_, err := f.instance.call(name, append(values, uint64(f.instance.answersAt))...)
		if err != nil {
			return err
		}
		given, _ := f.instance.memory.Read(f.instance.answersAt, uint32(values[2]))
		for i, answer := range given {
			answers[first+i] = answer != 0
		}
		return nil
	})
	if err != nil {
		panic(fmt.Sprintf("bloomset: %v", err))
	}
	return answers
}

func (f *Filter) batches(keys []string, use func(first int, values []uint64) error) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.instance.ended != nil {
		return f.instance.ended
	}
	return f.instance.batches(len(keys), func(i int) string { return keys[i] }, use)
}

// Hash is the key's hash of 64 bits with the filter's hash function and seed.
func (f *Filter) Hash(key string) (uint64, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	var hash uint64
	err := f.instance.lend([]byte(key), func(at uint64) (err error) {
		hash, err = f.instance.call("bloomset_hash", at, uint64(len(key)))
		return err
	})
	return hash, err
}

// Changes the filter by each key, and returns the sum of what the calls report.
func (f *Filter) change(name string, keys []string) (int, error) {
	changed := 0
	err := f.batches(keys, func(first int, values []uint64) error {
		failed := f.instance.run("", name, values...)
		var full *Error
		if failed != nil && !(errors.As(failed, &full) && full.Code == Full) {
			return failed
		}
		number, err := f.instance.call("bloomset_number")
		if full != nil && err == nil {
			full.Contained = first + int(number)
			return failed
		}
		changed += int(number)
		return err
	})
	return changed, err
}

// Insert inserts a key. It tells whether the key certainly was new.
func (f *Filter) Insert(key string) (bool, error) {
	n, err := f.InsertMany([]string{key})
	return n != 0, err
}

// InsertMany inserts keys in order, and returns how many certainly were new. Code Full means that a key had no room: the
// keys before it, Contained of the error, are in the filter.
func (f *Filter) InsertMany(keys []string) (int, error) { return f.change("bloomset_insert", keys) }

// Erase takes back one insert of a key; false if it certainly is not a member. Erase only keys that were inserted.
func (f *Filter) Erase(key string) (bool, error) {
	n, err := f.EraseMany([]string{key})
	return n != 0, err
}

// EraseMany erases keys, and returns how many were there.
func (f *Filter) EraseMany(keys []string) (int, error) { return f.change("bloomset_erase", keys) }

// CountMany tells how often each key was inserted and not erased: never too low, up to what the kind can count.
func (f *Filter) CountMany(keys []string) ([]uint64, error) {
	counts := make([]uint64, len(keys))
	err := f.batches(keys, func(first int, values []uint64) error {
		if err := f.instance.run("", "bloomset_count", append(values, uint64(f.instance.answersAt))...); err != nil {
			return err
		}
		given, _ := f.instance.memory.Read(f.instance.answersAt, 8*uint32(values[2]))
		for i := range given {
			if i%8 == 0 {
				counts[first+i/8] = binary.LittleEndian.Uint64(given[i:])
			}
		}
		return nil
	})
	return counts, err
}

// AddExceptions makes the answer "no" for keys that are not members but pass as members; it returns how many are new.
func (f *Filter) AddExceptions(keys []string) (int, error) {
	return f.change("bloomset_add_exceptions", keys)
}

// RemoveExceptions ends the exceptions of these keys.
func (f *Filter) RemoveExceptions(keys []string) (int, error) {
	return f.change("bloomset_remove_exceptions", keys)
}

// Clear removes all keys. The plan stays.
func (f *Filter) Clear() error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.instance.run("", "bloomset_clear")
}

// Merge makes the filter the union with another one.
func (f *Filter) Merge(other *Filter, how ...Option) error {
	return f.combine("bloomset_merge", other, how)
}

// Intersect keeps the keys that both filters may contain.
func (f *Filter) Intersect(other *Filter, how ...Option) error {
	return f.combine("bloomset_intersect", other, how)
}

func (f *Filter) combine(name string, other *Filter, how []Option) error {
	var wanted options
	for _, set := range how {
		set(&wanted)
	}
	data, err := other.Bytes()
	if err != nil {
		return err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.instance.lend(data, func(at uint64) error {
		return f.instance.lend(wanted.key.bytes(), func(key uint64) error {
			return f.instance.run("the other filter", name, at, uint64(len(data)), key)
		})
	})
}

// SetLabels replaces the labels, which go into the file and change no answer.
func (f *Filter) SetLabels(labels map[string]string) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.instance.withTexts(pairs(labels), func(values []uint64) error {
		return f.instance.run("", "bloomset_set_labels", values...)
	})
}

// Bytes are the bytes of the filter's file.
func (f *Filter) Bytes() ([]byte, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if err := f.instance.run("", "bloomset_to_bytes"); err != nil {
		return nil, err
	}
	data, err := f.instance.answer()
	if err == nil {
		_, err = f.instance.call("bloomset_forget_answer")
	}
	return data, err
}

// WriteTo writes the bytes of the filter's file.
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	data, err := f.Bytes()
	if err != nil {
		return 0, err
	}
	n, err := w.Write(data)
	return int64(n), err
}

// Info has the figures of a filter, with the names of `bloomset info --json`.
type Info struct {
	Kind          string            `json:"kind"`
	Capacity      uint64            `json:"capacity"`
	Count         uint64            `json:"count"`
	EstimatedSize *float64          `json:"estimated_size"` // distinct keys; nil if the bits are too full
	Bits          uint64            `json:"bits"`
	Bytes         uint64            `json:"bytes"`
	Hashes        int               `json:"hashes"`
	PlannedFPR    float64           `json:"planned_fpr"`
	CurrentFPR    float64           `json:"current_fpr"`
	Overfilled    bool              `json:"overfilled"`
	Fill          float64           `json:"fill"`
	Hash          string            `json:"hash"`
	Seed          uint64            `json:"seed"` // or the identifier of the secret key
	Can           []string          `json:"can"`
	Labels        map[string]string `json:"labels"`
	Exceptions    int               `json:"exceptions"`
	Extras        map[string]any    `json:"extras"`
}

// Info reads all bits, so it takes time in proportion to the size.
func (f *Filter) Info() (Info, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if err := f.instance.run("", "bloomset_info"); err != nil {
		return Info{}, err
	}
	return f.instance.info()
}

// ParseInfo has the figures of the filter in the bytes of a file, which needs no secret key.
func ParseInfo(data []byte) (Info, error) {
	var info Info
	filter, err := made(func(in *instance) error {
		err := in.lend(append([]byte{}, data...), func(at uint64) error {
			return in.run("the bytes", "bloomset_file_info", at, uint64(len(data)))
		})
		if err == nil {
			info, err = in.info()
		}
		return err
	})
	if err == nil {
		err = filter.Close()
	}
	return info, err
}

func (in *instance) info() (Info, error) {
	var info Info
	text, err := in.answer()
	if err == nil {
		err = json.Unmarshal(text, &info)
	}
	return info, err
}
