/* dlib's find_max_global as a peer of `make compare`; run through the script `peer`, whose lines it prints.
 *
 * usage: dlib SERVER SURFACE PATTERN SEED SECONDS MARK,MARK,... RUN_SECONDS
 *
 * find_max_global turns its model down, and at last off, where the function costs less than the model. Here a
 * trial takes no real time, though it stands for one that does. So this drives the class that find_max_global is a
 * loop around (global_function_search, as that loop sets it up for a slow function); it also takes a seed. */
#include <dlib/global_optimization.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

namespace
{

const char *const api_order[] = {"psync", "pvec", "pool", "libaio", "io_uring"};
const size_t n_factors = 5;
/* Of `Box` in box.py: proposals are mapped to tabulated points in the same way. */
const size_t first_category = 2, last_category = 3;
const double other_category = 4;

struct Over {};

struct Options {
    std::string server, surface, pattern, seed;
    double seconds, run_seconds;
    std::vector<std::string> marks;
};

using Row = std::vector<long>;

class Server
{
public:
    explicit Server(const Options &options);
    ~Server();
    Server(const Server &) = delete;
    Server &operator=(const Server &) = delete;

    void run(size_t index, double seconds, double &ret_bps, double &ret_now);
    std::vector<Row> points; /* request size, depth, direct, place of the API, threads */

private:
    FILE *in = nullptr, *out = nullptr;
    void read_points();
};

Server::Server(const Options &options)
{
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0)
        throw std::runtime_error("no pipe");
    const pid_t child = fork();
    if (child < 0)
        throw std::runtime_error("no process");
    if (child == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        for (int fd : {to[0], to[1], from[0], from[1]})
            close(fd);
        execl(options.server.c_str(), options.server.c_str(), options.surface.c_str(), options.pattern.c_str(),
              options.seed.c_str(), static_cast<char *>(nullptr));
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    out = fdopen(to[1], "w");
    in = fdopen(from[0], "r");
    read_points();
}

Server::~Server()
{
    fclose(out);
    fclose(in);
}

void Server::read_points()
{
    size_t n = 0;
    if (fscanf(in, "space %zu", &n) != 1)
        throw std::runtime_error("this is no trial server");
    for (size_t i = 0; i < n; i++) {
        size_t index;
        char api[32];
        Row row(n_factors);
        if (fscanf(in, "%zu %ld %ld %ld %31s %ld", &index, &row[0], &row[1], &row[2], api, &row[4]) != 6)
            throw std::runtime_error("the list of points is broken");
        row[3] = std::find(std::begin(api_order), std::end(api_order), std::string(api)) - std::begin(api_order);
        points.push_back(row);
    }
}

void Server::run(size_t index, double seconds, double &ret_bps, double &ret_now)
{
    fprintf(out, "%zu %.9g\n", index, seconds);
    fflush(out);
    if (fscanf(in, "%lf %lf", &ret_bps, &ret_now) != 2)
        throw std::runtime_error("the trial server ended early");
}

class Box
{
public:
    explicit Box(const std::vector<Row> &points);
    size_t index_of(const dlib::matrix<double, 0, 1> &proposal);
    dlib::matrix<double, 0, 1> lower() const, upper() const;
    size_t size() const { return factors.size(); }

private:
    std::vector<size_t> factors;
    std::vector<long> highest;
    std::vector<Row> rows;
    std::map<Row, size_t> places;
    size_t nearest(const Row &row) const;
};

Box::Box(const std::vector<Row> &points) : rows(points.size())
{
    for (size_t factor = 0; factor < n_factors; factor++) {
        std::set<long> seen;
        for (const Row &point : points)
            seen.insert(point[factor]);
        if (seen.size() < 2)
            continue;
        factors.push_back(factor);
        highest.push_back(static_cast<long>(seen.size()) - 1);
        for (size_t i = 0; i < points.size(); i++)
            rows[i].push_back(std::distance(seen.begin(), seen.find(points[i][factor])));
    }
    for (size_t i = 0; i < rows.size(); i++)
        places.emplace(rows[i], i);
}

size_t Box::nearest(const Row &row) const
{
    size_t best = 0;
    double least = HUGE_VAL;
    for (size_t i = 0; i < rows.size(); i++) {
        double cost = 0;
        for (size_t k = 0; k < factors.size(); k++) {
            const double step = static_cast<double>(rows[i][k] - row[k]);
            const bool is_category = factors[k] >= first_category && factors[k] <= last_category;
            cost += is_category ? (step != 0 ? other_category : 0)
                                : std::pow(step / static_cast<double>(highest[k]), 2);
        }
        if (cost < least) {
            least = cost;
            best = i;
        }
    }
    return best;
}

size_t Box::index_of(const dlib::matrix<double, 0, 1> &proposal)
{
    Row row;
    for (size_t k = 0; k < factors.size(); k++)
        row.push_back(std::lround(proposal(static_cast<long>(k))));
    const auto found = places.find(row);
    if (found != places.end())
        return found->second;
    return places[row] = nearest(row);
}

dlib::matrix<double, 0, 1> Box::lower() const
{
    return dlib::zeros_matrix<double>(static_cast<long>(size()), 1);
}

dlib::matrix<double, 0, 1> Box::upper() const
{
    dlib::matrix<double, 0, 1> result(static_cast<long>(size()));
    for (size_t k = 0; k < size(); k++)
        result(static_cast<long>(k)) = static_cast<double>(highest[k]);
    return result;
}

/* The best observed trial is the pick, as find_max_global returns it. */
class Record
{
public:
    explicit Record(const Options &asked) : options(asked) {}
    void add(size_t index, double bps, double now);

private:
    const Options &options;
    size_t n_told = 0, n_trials = 0, best = 0;
    double best_bps = 0;
    void tell(const std::string &mark) const;
};

void Record::tell(const std::string &mark) const
{
    if (n_trials == 0)
        printf("{\"seconds\": %s, \"index\": null, \"trials\": 0, \"claimed_bps\": null}\n", mark.c_str());
    else
        printf("{\"seconds\": %s, \"index\": %zu, \"trials\": %zu, \"claimed_bps\": %.17g}\n", mark.c_str(), best,
               n_trials, best_bps);
}

void Record::add(size_t index, double bps, double now)
{
    for (; n_told < options.marks.size() && std::stod(options.marks[n_told]) < now; n_told++) {
        if (std::stod(options.marks[n_told]) <= options.seconds)
            tell(options.marks[n_told]);
    }
    if (now > options.seconds)
        throw Over();
    n_trials++;
    if (bps > best_bps) {
        best_bps = bps;
        best = index;
    }
}

void search(const Options &options)
{
    Server server(options);
    Box box(server.points);
    Record record(options);
    dlib::global_function_search engine(
        dlib::function_spec(box.lower(), box.upper(), std::vector<bool>(box.size(), true)));
    engine.set_solver_epsilon(0);
    engine.set_seed(static_cast<time_t>(std::stoull(options.seed)));
    for (;;) {
        auto request = engine.get_next_x();
        const size_t index = box.index_of(request.x());
        double bps = 0, now = 0;
        server.run(index, options.run_seconds, bps, now);
        record.add(index, bps, now);
        request.set(std::log(bps));
    }
}

Options parse(char **argv)
{
    Options options = {argv[1], argv[2], argv[3], argv[4], std::stod(argv[5]), std::stod(argv[7]), {}};
    std::istringstream marks(argv[6]);
    for (std::string mark; std::getline(marks, mark, ',');)
        options.marks.push_back(mark);
    return options;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 8) {
        fputs("usage: dlib SERVER SURFACE PATTERN SEED SECONDS MARK,MARK,... RUN_SECONDS\n", stderr);
        return 2;
    }
    try {
        search(parse(argv));
    } catch (const Over &) {
        return 0;
    } catch (const std::exception &error) {
        fprintf(stderr, "dlib: %s\n", error.what());
        return 1;
    }
}
